// Generated from the ports of the models: parts of front end, channel and die, and their connections.
#pragma once
#include "models.h"
#include "parts.h"
using flashtrain::carry;
class FrontEnd {
  public:
    FrontEnd(VerilatedContext& context, int count) : rest{context, count}, register_file{context, count}, fetch{context, count}, decoder{context, count}, zones_manager{context, count}, zones_allocator{context, count}, zones_eraser{context, count}, zones_report{context, count}, tracker{context, count}, completion_merge{context, count}, completion{context, count}, write_splitter{context, count}, write_fetch{context, count}, write_merge{context, count}, read_splitter{context, count}, read_read_return_arbiter{context, count}, read_read_return{context, count}, event_slices{context, count}, head_slices{context, count}, programmed{context, count}, stopwatch{context, count}, counters{context, count}, seconds{context, count}, queue_mux{context, count}, data_guard{context, count}, queue_guard{context, count} {}
    // All parts follow their inputs. Returns the instances with changed outputs.
    uint64_t settle() {
        while (rest.dirty | register_file.dirty | fetch.dirty | decoder.dirty | zones_manager.dirty | zones_allocator.dirty | zones_eraser.dirty | zones_report.dirty | tracker.dirty | completion_merge.dirty | completion.dirty | write_splitter.dirty | write_fetch.dirty | write_merge.dirty | read_splitter.dirty | read_read_return_arbiter.dirty | read_read_return.dirty | event_slices.dirty | head_slices.dirty | programmed.dirty | stopwatch.dirty | counters.dirty | seconds.dirty | queue_mux.dirty | data_guard.dirty | queue_guard.dirty) {
            for (const int i : flashtrain::Each(rest.wake_dirty())) {
                flashtrain::settle(rest[i]);
                carry_from_rest(i);
            }
            for (const int i : flashtrain::Each(register_file.wake_dirty())) {
                flashtrain::settle(register_file[i]);
                carry_from_register_file(i);
            }
            for (const int i : flashtrain::Each(fetch.wake_dirty())) {
                flashtrain::settle(fetch[i]);
                carry_from_fetch(i);
            }
            for (const int i : flashtrain::Each(decoder.wake_dirty())) {
                flashtrain::settle(decoder[i]);
                carry_from_decoder(i);
            }
            for (const int i : flashtrain::Each(zones_manager.wake_dirty())) {
                flashtrain::settle(zones_manager[i]);
                carry_from_zones_manager(i);
            }
            for (const int i : flashtrain::Each(zones_allocator.wake_dirty())) {
                flashtrain::settle(zones_allocator[i]);
                carry_from_zones_allocator(i);
            }
            for (const int i : flashtrain::Each(zones_eraser.wake_dirty())) {
                flashtrain::settle(zones_eraser[i]);
                carry_from_zones_eraser(i);
            }
            for (const int i : flashtrain::Each(zones_report.wake_dirty())) {
                flashtrain::settle(zones_report[i]);
                carry_from_zones_report(i);
            }
            for (const int i : flashtrain::Each(tracker.wake_dirty())) {
                flashtrain::settle(tracker[i]);
                carry_from_tracker(i);
            }
            for (const int i : flashtrain::Each(completion_merge.wake_dirty())) {
                flashtrain::settle(completion_merge[i]);
                carry_from_completion_merge(i);
            }
            for (const int i : flashtrain::Each(completion.wake_dirty())) {
                flashtrain::settle(completion[i]);
                carry_from_completion(i);
            }
            for (const int i : flashtrain::Each(write_splitter.wake_dirty())) {
                flashtrain::settle(write_splitter[i]);
                carry_from_write_splitter(i);
            }
            for (const int i : flashtrain::Each(write_fetch.wake_dirty())) {
                flashtrain::settle(write_fetch[i]);
                carry_from_write_fetch(i);
            }
            for (const int i : flashtrain::Each(write_merge.wake_dirty())) {
                flashtrain::settle(write_merge[i]);
                carry_from_write_merge(i);
            }
            for (const int i : flashtrain::Each(read_splitter.wake_dirty())) {
                flashtrain::settle(read_splitter[i]);
                carry_from_read_splitter(i);
            }
            for (const int i : flashtrain::Each(read_read_return_arbiter.wake_dirty())) {
                flashtrain::settle(read_read_return_arbiter[i]);
                carry_from_read_read_return_arbiter(i);
            }
            for (const int i : flashtrain::Each(read_read_return.wake_dirty())) {
                flashtrain::settle(read_read_return[i]);
                carry_from_read_read_return(i);
            }
            for (const int i : flashtrain::Each(event_slices.wake_dirty())) {
                flashtrain::settle(event_slices[i]);
                carry_from_event_slices(i);
            }
            for (const int i : flashtrain::Each(head_slices.wake_dirty())) {
                flashtrain::settle(head_slices[i]);
                carry_from_head_slices(i);
            }
            for (const int i : flashtrain::Each(programmed.wake_dirty())) {
                flashtrain::settle(programmed[i]);
                carry_from_programmed(i);
            }
            stopwatch.wake_dirty();
            for (const int i : flashtrain::Each(counters.wake_dirty())) {
                flashtrain::settle(counters[i]);
                carry_from_counters(i);
            }
            seconds.wake_dirty();
            for (const int i : flashtrain::Each(queue_mux.wake_dirty())) {
                flashtrain::settle(queue_mux[i]);
                carry_from_queue_mux(i);
            }
            for (const int i : flashtrain::Each(data_guard.wake_dirty())) {
                flashtrain::settle(data_guard[i]);
                carry_from_data_guard(i);
            }
            for (const int i : flashtrain::Each(queue_guard.wake_dirty())) {
                flashtrain::settle(queue_guard[i]);
                carry_from_queue_guard(i);
            }
        }
        return std::exchange(changed_, 0);
    }
    // The instances in which the next edge may change something.
    uint64_t awake() const { return rest.awake | register_file.awake | fetch.awake | decoder.awake | zones_manager.awake | zones_allocator.awake | zones_eraser.awake | zones_report.awake | tracker.awake | completion_merge.awake | completion.awake | write_splitter.awake | write_fetch.awake | write_merge.awake | read_splitter.awake | read_read_return_arbiter.awake | read_read_return.awake | event_slices.awake | head_slices.awake | programmed.awake | stopwatch.awake | counters.awake | seconds.awake | queue_mux.awake | data_guard.awake | queue_guard.awake; }
    // The clock of these instances rises; settled before.
    void edge(uint64_t clock, uint64_t instances = ~uint64_t{0}) {
        rest.moved = rest.awake & instances;
        for (const int i : flashtrain::Each(rest.moved)) flashtrain::rising_edge(rest[i]);
        rest.compare_in_intervals(clock);
        register_file.moved = register_file.awake & instances;
        for (const int i : flashtrain::Each(register_file.moved)) flashtrain::rising_edge(register_file[i]);
        register_file.compare_in_intervals(clock);
        fetch.moved = fetch.awake & instances;
        for (const int i : flashtrain::Each(fetch.moved)) flashtrain::rising_edge(fetch[i]);
        fetch.compare_in_intervals(clock);
        decoder.moved = decoder.awake & instances;
        for (const int i : flashtrain::Each(decoder.moved)) flashtrain::rising_edge(decoder[i]);
        decoder.compare_in_intervals(clock);
        zones_manager.moved = zones_manager.awake & instances;
        for (const int i : flashtrain::Each(zones_manager.moved)) flashtrain::rising_edge(zones_manager[i]);
        zones_manager.compare_in_intervals(clock);
        zones_allocator.moved = zones_allocator.awake & instances;
        for (const int i : flashtrain::Each(zones_allocator.moved)) flashtrain::rising_edge(zones_allocator[i]);
        zones_allocator.compare_in_intervals(clock);
        zones_eraser.moved = zones_eraser.awake & instances;
        for (const int i : flashtrain::Each(zones_eraser.moved)) flashtrain::rising_edge(zones_eraser[i]);
        zones_eraser.compare_in_intervals(clock);
        zones_report.moved = zones_report.awake & instances;
        for (const int i : flashtrain::Each(zones_report.moved)) flashtrain::rising_edge(zones_report[i]);
        zones_report.compare_in_intervals(clock);
        tracker.moved = tracker.awake & instances;
        for (const int i : flashtrain::Each(tracker.moved)) flashtrain::rising_edge(tracker[i]);
        tracker.compare_in_intervals(clock);
        completion_merge.moved = completion_merge.awake & instances;
        for (const int i : flashtrain::Each(completion_merge.moved)) flashtrain::rising_edge(completion_merge[i]);
        completion_merge.compare_in_intervals(clock);
        completion.moved = completion.awake & instances;
        for (const int i : flashtrain::Each(completion.moved)) flashtrain::rising_edge(completion[i]);
        completion.compare_in_intervals(clock);
        write_splitter.moved = write_splitter.awake & instances;
        for (const int i : flashtrain::Each(write_splitter.moved)) flashtrain::rising_edge(write_splitter[i]);
        write_splitter.compare_in_intervals(clock);
        write_fetch.moved = write_fetch.awake & instances;
        for (const int i : flashtrain::Each(write_fetch.moved)) flashtrain::rising_edge(write_fetch[i]);
        write_fetch.compare_in_intervals(clock);
        write_merge.moved = write_merge.awake & instances;
        for (const int i : flashtrain::Each(write_merge.moved)) flashtrain::rising_edge(write_merge[i]);
        write_merge.compare_in_intervals(clock);
        read_splitter.moved = read_splitter.awake & instances;
        for (const int i : flashtrain::Each(read_splitter.moved)) flashtrain::rising_edge(read_splitter[i]);
        read_splitter.compare_in_intervals(clock);
        read_read_return_arbiter.moved = read_read_return_arbiter.awake & instances;
        for (const int i : flashtrain::Each(read_read_return_arbiter.moved)) flashtrain::rising_edge(read_read_return_arbiter[i]);
        read_read_return_arbiter.compare_in_intervals(clock);
        read_read_return.moved = read_read_return.awake & instances;
        for (const int i : flashtrain::Each(read_read_return.moved)) flashtrain::rising_edge(read_read_return[i]);
        read_read_return.compare_in_intervals(clock);
        event_slices.moved = event_slices.awake & instances;
        for (const int i : flashtrain::Each(event_slices.moved)) flashtrain::rising_edge(event_slices[i]);
        event_slices.compare_in_intervals(clock);
        head_slices.moved = head_slices.awake & instances;
        for (const int i : flashtrain::Each(head_slices.moved)) flashtrain::rising_edge(head_slices[i]);
        head_slices.compare_in_intervals(clock);
        programmed.moved = programmed.awake & instances;
        for (const int i : flashtrain::Each(programmed.moved)) flashtrain::rising_edge(programmed[i]);
        programmed.compare_in_intervals(clock);
        stopwatch.moved = stopwatch.awake & instances;
        for (const int i : flashtrain::Each(stopwatch.moved)) flashtrain::rising_edge(stopwatch[i]);
        counters.moved = counters.awake & instances;
        for (const int i : flashtrain::Each(counters.moved)) flashtrain::rising_edge(counters[i]);
        seconds.moved = seconds.awake & instances;
        for (const int i : flashtrain::Each(seconds.moved)) flashtrain::rising_edge(seconds[i]);
        queue_mux.moved = queue_mux.awake & instances;
        for (const int i : flashtrain::Each(queue_mux.moved)) flashtrain::rising_edge(queue_mux[i]);
        queue_mux.compare_in_intervals(clock);
        data_guard.moved = data_guard.awake & instances;
        for (const int i : flashtrain::Each(data_guard.moved)) flashtrain::rising_edge(data_guard[i]);
        data_guard.compare_in_intervals(clock);
        queue_guard.moved = queue_guard.awake & instances;
        for (const int i : flashtrain::Each(queue_guard.moved)) flashtrain::rising_edge(queue_guard[i]);
        queue_guard.compare_in_intervals(clock);
        for (const int i : flashtrain::Each(rest.moved)) carry_from_rest(i);
        for (const int i : flashtrain::Each(register_file.moved)) carry_from_register_file(i);
        for (const int i : flashtrain::Each(fetch.moved)) carry_from_fetch(i);
        for (const int i : flashtrain::Each(decoder.moved)) carry_from_decoder(i);
        for (const int i : flashtrain::Each(zones_manager.moved)) carry_from_zones_manager(i);
        for (const int i : flashtrain::Each(zones_allocator.moved)) carry_from_zones_allocator(i);
        for (const int i : flashtrain::Each(zones_eraser.moved)) carry_from_zones_eraser(i);
        for (const int i : flashtrain::Each(zones_report.moved)) carry_from_zones_report(i);
        for (const int i : flashtrain::Each(tracker.moved)) carry_from_tracker(i);
        for (const int i : flashtrain::Each(completion_merge.moved)) carry_from_completion_merge(i);
        for (const int i : flashtrain::Each(completion.moved)) carry_from_completion(i);
        for (const int i : flashtrain::Each(write_splitter.moved)) carry_from_write_splitter(i);
        for (const int i : flashtrain::Each(write_fetch.moved)) carry_from_write_fetch(i);
        for (const int i : flashtrain::Each(write_merge.moved)) carry_from_write_merge(i);
        for (const int i : flashtrain::Each(read_splitter.moved)) carry_from_read_splitter(i);
        for (const int i : flashtrain::Each(read_read_return_arbiter.moved)) carry_from_read_read_return_arbiter(i);
        for (const int i : flashtrain::Each(read_read_return.moved)) carry_from_read_read_return(i);
        for (const int i : flashtrain::Each(event_slices.moved)) carry_from_event_slices(i);
        for (const int i : flashtrain::Each(head_slices.moved)) carry_from_head_slices(i);
        for (const int i : flashtrain::Each(programmed.moved)) carry_from_programmed(i);
        for (const int i : flashtrain::Each(stopwatch.moved)) carry_from_stopwatch(i);
        for (const int i : flashtrain::Each(counters.moved)) carry_from_counters(i);
        for (const int i : flashtrain::Each(seconds.moved)) carry_from_seconds(i);
        for (const int i : flashtrain::Each(queue_mux.moved)) carry_from_queue_mux(i);
        for (const int i : flashtrain::Each(data_guard.moved)) carry_from_data_guard(i);
        for (const int i : flashtrain::Each(queue_guard.moved)) carry_from_queue_guard(i);
    }
    template <typename Action>
    void for_each_model(Action action) {
        rest.for_each_model(action);
        rest.wake_all(true);
        register_file.for_each_model(action);
        register_file.wake_all(true);
        fetch.for_each_model(action);
        fetch.wake_all(true);
        decoder.for_each_model(action);
        decoder.wake_all(true);
        zones_manager.for_each_model(action);
        zones_manager.wake_all(true);
        zones_allocator.for_each_model(action);
        zones_allocator.wake_all(true);
        zones_eraser.for_each_model(action);
        zones_eraser.wake_all(true);
        zones_report.for_each_model(action);
        zones_report.wake_all(true);
        tracker.for_each_model(action);
        tracker.wake_all(true);
        completion_merge.for_each_model(action);
        completion_merge.wake_all(true);
        completion.for_each_model(action);
        completion.wake_all(true);
        write_splitter.for_each_model(action);
        write_splitter.wake_all(true);
        write_fetch.for_each_model(action);
        write_fetch.wake_all(true);
        write_merge.for_each_model(action);
        write_merge.wake_all(true);
        read_splitter.for_each_model(action);
        read_splitter.wake_all(true);
        read_read_return_arbiter.for_each_model(action);
        read_read_return_arbiter.wake_all(true);
        read_read_return.for_each_model(action);
        read_read_return.wake_all(true);
        event_slices.for_each_model(action);
        event_slices.wake_all(true);
        head_slices.for_each_model(action);
        head_slices.wake_all(true);
        programmed.for_each_model(action);
        programmed.wake_all(true);
        stopwatch.for_each_model(action);
        stopwatch.wake_all(true);
        counters.for_each_model(action);
        counters.wake_all(true);
        seconds.for_each_model(action);
        seconds.wake_all(true);
        queue_mux.for_each_model(action);
        queue_mux.wake_all(true);
        data_guard.for_each_model(action);
        data_guard.wake_all(true);
        queue_guard.for_each_model(action);
        queue_guard.wake_all(true);
        changed_ = rest.moved;
    }
    template <typename Value>
    void data__awready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.wake_if_changed(i, flashtrain::carry(data_guard[i].port11___05Foutput___05Fready, value));
    }
    template <typename Value>
    void data__arready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.wake_if_changed(i, flashtrain::carry(data_guard[i].port10___05Foutput___05Fready, value));
    }
    template <typename Value>
    void data__wready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.mark_input_changed(i, flashtrain::carry(data_guard[i].port12___05Foutput___05Fready, value));
    }
    template <typename Value>
    void data__bid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
    }
    template <typename Value>
    void data__bresp([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.mark_input_changed(i, flashtrain::carry(data_guard[i].pins___05Fbresp, value));
    }
    template <typename Value>
    void data__bvalid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.mark_input_changed(i, flashtrain::carry(data_guard[i].pins___05Fbvalid, value));
    }
    template <typename Value>
    void data__rid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
    }
    template <typename Value>
    void data__rdata([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.mark_input_changed(i, flashtrain::carry(data_guard[i].pins___05Frdata, value));
    }
    template <typename Value>
    void data__rresp([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.mark_input_changed(i, flashtrain::carry(data_guard[i].pins___05Frresp, value));
    }
    template <typename Value>
    void data__rlast([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.mark_input_changed(i, flashtrain::carry(data_guard[i].pins___05Frlast, value));
    }
    template <typename Value>
    void data__rvalid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        data_guard.mark_input_changed(i, flashtrain::carry(data_guard[i].pins___05Frvalid, value));
    }
    template <typename Value>
    void queue__awready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.wake_if_changed(i, flashtrain::carry(queue_guard[i].port11___05Foutput___05Fready, value));
    }
    template <typename Value>
    void queue__arready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.wake_if_changed(i, flashtrain::carry(queue_guard[i].port10___05Foutput___05Fready, value));
    }
    template <typename Value>
    void queue__wready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.mark_input_changed(i, flashtrain::carry(queue_guard[i].port12___05Foutput___05Fready, value));
    }
    template <typename Value>
    void queue__bid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
    }
    template <typename Value>
    void queue__bresp([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.mark_input_changed(i, flashtrain::carry(queue_guard[i].pins___05Fbresp, value));
    }
    template <typename Value>
    void queue__bvalid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.mark_input_changed(i, flashtrain::carry(queue_guard[i].pins___05Fbvalid, value));
    }
    template <typename Value>
    void queue__rid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
    }
    template <typename Value>
    void queue__rdata([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.mark_input_changed(i, flashtrain::carry(queue_guard[i].pins___05Frdata, value));
    }
    template <typename Value>
    void queue__rresp([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.mark_input_changed(i, flashtrain::carry(queue_guard[i].pins___05Frresp, value));
    }
    template <typename Value>
    void queue__rlast([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.mark_input_changed(i, flashtrain::carry(queue_guard[i].pins___05Frlast, value));
    }
    template <typename Value>
    void queue__rvalid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        queue_guard.mark_input_changed(i, flashtrain::carry(queue_guard[i].pins___05Frvalid, value));
    }
    template <typename Value>
    void registers__awaddr([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.mark_input_changed(i, flashtrain::carry(register_file[i].port5___05Fbus___05Fawaddr, value));
    }
    template <typename Value>
    void registers__awprot([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
    }
    template <typename Value>
    void registers__awvalid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.mark_input_changed(i, flashtrain::carry(register_file[i].port6___05Fbus___05Fawvalid, value));
    }
    template <typename Value>
    void registers__wdata([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.mark_input_changed(i, flashtrain::carry(register_file[i].port28___05Fwrite_data, value));
    }
    template <typename Value>
    void registers__wstrb([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.mark_input_changed(i, flashtrain::carry(register_file[i].port9___05Fbus___05Fwstrb, value));
    }
    template <typename Value>
    void registers__wvalid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.mark_input_changed(i, flashtrain::carry(register_file[i].port10___05Fbus___05Fwvalid, value));
    }
    template <typename Value>
    void registers__bready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.mark_input_changed(i, flashtrain::carry(register_file[i].port7___05Fbus___05Fbready, value));
    }
    template <typename Value>
    void registers__araddr([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.wake_if_changed(i, flashtrain::carry(register_file[i].port3___05Fbus___05Faraddr, value));
    }
    template <typename Value>
    void registers__arprot([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
    }
    template <typename Value>
    void registers__arvalid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.wake_if_changed(i, flashtrain::carry(register_file[i].port4___05Fbus___05Farvalid, value));
    }
    template <typename Value>
    void registers__rready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        register_file.wake_if_changed(i, flashtrain::carry(register_file[i].port8___05Fbus___05Frready, value));
    }
    template <typename Value>
    void channels__0__pages__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        write_splitter.mark_input_changed(i, flashtrain::carry(write_splitter[i].pages___05F0___05Fready, value));
    }
    template <typename Value>
    void channels__0__programmed__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        event_slices.wake_if_changed(i, flashtrain::carry(event_slices[i].port0___05Finput___05Fpayload, value));
    }
    template <typename Value>
    void channels__0__programmed__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        event_slices.mark_input_changed(i, flashtrain::carry(event_slices[i].port2___05Finput___05Fvalid, value));
    }
    template <typename Value>
    void channels__0__reads__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        read_splitter.mark_input_changed(i, flashtrain::carry(read_splitter[i].pages___05F0___05Fready, value));
    }
    template <typename Value>
    void channels__0__read_head__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        head_slices.wake_if_changed(i, flashtrain::carry(head_slices[i].port4___05Finput___05Fpayload, value));
    }
    template <typename Value>
    void channels__0__read_head__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        head_slices.mark_input_changed(i, flashtrain::carry(head_slices[i].port6___05Finput___05Fvalid, value));
    }
    template <typename Value>
    void channels__0__read_valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F0___05Fread_valid, value));
    }
    template <typename Value>
    void channels__0__erase__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        zones_eraser.wake_if_changed(i, flashtrain::carry(zones_eraser[i].erase___05F0___05Fready, value));
    }
    template <typename Value>
    void channels__0__erased__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        zones_eraser.wake_if_changed(i, flashtrain::carry(zones_eraser[i].erased___05F0___05Fpayload, value));
    }
    template <typename Value>
    void channels__0__erased__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        zones_eraser.mark_input_changed(i, flashtrain::carry(zones_eraser[i].erased___05F0___05Fvalid, value));
    }
    template <typename Value>
    void channels__0__flush__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        write_splitter.wake_if_changed(i, flashtrain::carry(write_splitter[i].flush___05F0___05Fready, value));
    }
    template <typename Value>
    void channels__0__flushed([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F0___05Fflushed, value));
    }
    template <typename Value>
    void channels__0__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F0___05Fready, value));
    }
    template <typename Value>
    void channels__0__idle([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F0___05Fidle, value));
    }
    template <typename Value>
    void channels__0__counter_value([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F0___05Fcounter_value, value));
    }
    template <typename Value>
    void channels__1__pages__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        write_splitter.mark_input_changed(i, flashtrain::carry(write_splitter[i].pages___05F1___05Fready, value));
    }
    template <typename Value>
    void channels__1__programmed__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        event_slices.wake_if_changed(i, flashtrain::carry(event_slices[i].port1___05Finput___05Fpayload, value));
    }
    template <typename Value>
    void channels__1__programmed__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        event_slices.mark_input_changed(i, flashtrain::carry(event_slices[i].port3___05Finput___05Fvalid, value));
    }
    template <typename Value>
    void channels__1__reads__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        read_splitter.mark_input_changed(i, flashtrain::carry(read_splitter[i].pages___05F1___05Fready, value));
    }
    template <typename Value>
    void channels__1__read_head__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        head_slices.wake_if_changed(i, flashtrain::carry(head_slices[i].port5___05Finput___05Fpayload, value));
    }
    template <typename Value>
    void channels__1__read_head__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        head_slices.mark_input_changed(i, flashtrain::carry(head_slices[i].port7___05Finput___05Fvalid, value));
    }
    template <typename Value>
    void channels__1__read_valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F1___05Fread_valid, value));
    }
    template <typename Value>
    void channels__1__erase__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        zones_eraser.wake_if_changed(i, flashtrain::carry(zones_eraser[i].erase___05F1___05Fready, value));
    }
    template <typename Value>
    void channels__1__erased__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        zones_eraser.wake_if_changed(i, flashtrain::carry(zones_eraser[i].erased___05F1___05Fpayload, value));
    }
    template <typename Value>
    void channels__1__erased__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        zones_eraser.mark_input_changed(i, flashtrain::carry(zones_eraser[i].erased___05F1___05Fvalid, value));
    }
    template <typename Value>
    void channels__1__flush__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        write_splitter.wake_if_changed(i, flashtrain::carry(write_splitter[i].flush___05F1___05Fready, value));
    }
    template <typename Value>
    void channels__1__flushed([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F1___05Fflushed, value));
    }
    template <typename Value>
    void channels__1__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F1___05Fready, value));
    }
    template <typename Value>
    void channels__1__idle([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F1___05Fidle, value));
    }
    template <typename Value>
    void channels__1__counter_value([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.mark_input_changed(i, flashtrain::carry(rest[i].channels___05F1___05Fcounter_value, value));
    }
    template <typename Value>
    void read_data([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        read_read_return.mark_input_changed(i, flashtrain::carry(read_read_return[i].data, value));
    }
    // Silent inputs have an effect now.
    void apply_silent_inputs([[maybe_unused]] int i) {
    }
    const auto& broadcast__counter_sample(int i = 0) const { return register_file[i].port55___05Freading; }
    const auto& data__awid(int i = 0) const { return rest[i].port65___05Fpins___05Fawid; }
    const auto& data__awaddr(int i = 0) const { return data_guard[i].pins___05Fawaddr; }
    const auto& data__awlen(int i = 0) const { return data_guard[i].pins___05Fawlen; }
    const auto& data__awsize(int i = 0) const { return data_guard[i].pins___05Fawsize; }
    const auto& data__awburst(int i = 0) const { return data_guard[i].pins___05Fawburst; }
    const auto& data__awvalid(int i = 0) const { return data_guard[i].port30___05Foutput___05Fvalid; }
    const auto& data__arid(int i = 0) const { return rest[i].port66___05Fpins___05Farid; }
    const auto& data__araddr(int i = 0) const { return data_guard[i].pins___05Faraddr; }
    const auto& data__arlen(int i = 0) const { return data_guard[i].pins___05Farlen; }
    const auto& data__arsize(int i = 0) const { return data_guard[i].pins___05Farsize; }
    const auto& data__arburst(int i = 0) const { return data_guard[i].pins___05Farburst; }
    const auto& data__arvalid(int i = 0) const { return data_guard[i].port35___05Foutput___05Fvalid; }
    const auto& data__wdata(int i = 0) const { return data_guard[i].pins___05Fwdata; }
    const auto& data__wstrb(int i = 0) const { return data_guard[i].pins___05Fwstrb; }
    const auto& data__wlast(int i = 0) const { return data_guard[i].pins___05Fwlast; }
    const auto& data__wvalid(int i = 0) const { return data_guard[i].port39___05Foutput___05Fvalid; }
    const auto& data__bready(int i = 0) const { return data_guard[i].pins___05Fbready; }
    const auto& data__rready(int i = 0) const { return data_guard[i].pins___05Frready; }
    const auto& queue__awid(int i = 0) const { return rest[i].port67___05Fpins___05Fawid; }
    const auto& queue__awaddr(int i = 0) const { return queue_guard[i].pins___05Fawaddr; }
    const auto& queue__awlen(int i = 0) const { return queue_guard[i].pins___05Fawlen; }
    const auto& queue__awsize(int i = 0) const { return queue_guard[i].pins___05Fawsize; }
    const auto& queue__awburst(int i = 0) const { return queue_guard[i].pins___05Fawburst; }
    const auto& queue__awvalid(int i = 0) const { return queue_guard[i].port30___05Foutput___05Fvalid; }
    const auto& queue__arid(int i = 0) const { return rest[i].port68___05Fpins___05Farid; }
    const auto& queue__araddr(int i = 0) const { return queue_guard[i].pins___05Faraddr; }
    const auto& queue__arlen(int i = 0) const { return queue_guard[i].pins___05Farlen; }
    const auto& queue__arsize(int i = 0) const { return queue_guard[i].pins___05Farsize; }
    const auto& queue__arburst(int i = 0) const { return queue_guard[i].pins___05Farburst; }
    const auto& queue__arvalid(int i = 0) const { return queue_guard[i].port35___05Foutput___05Fvalid; }
    const auto& queue__wdata(int i = 0) const { return queue_guard[i].pins___05Fwdata; }
    const auto& queue__wstrb(int i = 0) const { return queue_guard[i].pins___05Fwstrb; }
    const auto& queue__wlast(int i = 0) const { return queue_guard[i].pins___05Fwlast; }
    const auto& queue__wvalid(int i = 0) const { return queue_guard[i].port39___05Foutput___05Fvalid; }
    const auto& queue__bready(int i = 0) const { return queue_guard[i].pins___05Fbready; }
    const auto& queue__rready(int i = 0) const { return queue_guard[i].pins___05Frready; }
    const auto& registers__awready(int i = 0) const { return register_file[i].port57___05Fsignal; }
    const auto& registers__wready(int i = 0) const { return register_file[i].port57___05Fsignal; }
    const auto& registers__bresp(int i = 0) const { return register_file[i].port58___05Fbus___05Fbresp; }
    const auto& registers__bvalid(int i = 0) const { return register_file[i].port59___05Fbus___05Fbvalid; }
    const auto& registers__arready(int i = 0) const { return register_file[i].port60___05Fbus___05Farready; }
    const auto& registers__rdata(int i = 0) const { return register_file[i].port61___05Fbus___05Frdata; }
    const auto& registers__rresp(int i = 0) const { return register_file[i].port62___05Fbus___05Frresp; }
    const auto& registers__rvalid(int i = 0) const { return register_file[i].port63___05Fbus___05Frvalid; }
    const auto& irq(int i = 0) const { return register_file[i].irq; }
    const auto& channels__0__pages__payload(int i = 0) const { return write_splitter[i].pages___05F0___05Fpayload; }
    const auto& channels__0__pages__valid(int i = 0) const { return write_splitter[i].pages___05F0___05Fvalid; }
    const auto& channels__0__programmed__ready(int i = 0) const { return event_slices[i].port11___05Finput___05Fready; }
    const auto& channels__0__reads__payload(int i = 0) const { return read_splitter[i].pages___05F0___05Fpayload; }
    const auto& channels__0__reads__valid(int i = 0) const { return read_splitter[i].pages___05F0___05Fvalid; }
    const auto& channels__0__read_head__ready(int i = 0) const { return head_slices[i].port11___05Finput___05Fready; }
    const auto& channels__0__read_ready(int i = 0) const { return rest[i].channels___05F0___05Fread_ready; }
    const auto& channels__0__read_chosen(int i = 0) const { return rest[i].channels___05F0___05Fread_chosen; }
    const auto& channels__0__erase__payload(int i = 0) const { return zones_eraser[i].erase___05F0___05Fpayload; }
    const auto& channels__0__erase__valid(int i = 0) const { return zones_eraser[i].erase___05F0___05Fvalid; }
    const auto& channels__0__erased__ready(int i = 0) const { return zones_eraser[i].erased___05F0___05Fready; }
    const auto& channels__0__raw(int i = 0) const { return rest[i].port71___05Fraw; }
    const auto& channels__1__raw(int i = 0) const { return rest[i].port71___05Fraw; }
    const auto& channels__0__flush__payload(int i = 0) const { return write_splitter[i].flush___05F0___05Fpayload; }
    const auto& channels__0__flush__valid(int i = 0) const { return write_splitter[i].flush___05F0___05Fvalid; }
    const auto& channels__1__pages__payload(int i = 0) const { return write_splitter[i].pages___05F1___05Fpayload; }
    const auto& channels__1__pages__valid(int i = 0) const { return write_splitter[i].pages___05F1___05Fvalid; }
    const auto& channels__1__programmed__ready(int i = 0) const { return event_slices[i].port12___05Finput___05Fready; }
    const auto& channels__1__reads__payload(int i = 0) const { return read_splitter[i].pages___05F1___05Fpayload; }
    const auto& channels__1__reads__valid(int i = 0) const { return read_splitter[i].pages___05F1___05Fvalid; }
    const auto& channels__1__read_head__ready(int i = 0) const { return head_slices[i].port12___05Finput___05Fready; }
    const auto& channels__1__read_ready(int i = 0) const { return rest[i].channels___05F1___05Fread_ready; }
    const auto& channels__1__read_chosen(int i = 0) const { return rest[i].channels___05F1___05Fread_chosen; }
    const auto& channels__1__erase__payload(int i = 0) const { return zones_eraser[i].erase___05F1___05Fpayload; }
    const auto& channels__1__erase__valid(int i = 0) const { return zones_eraser[i].erase___05F1___05Fvalid; }
    const auto& channels__1__erased__ready(int i = 0) const { return zones_eraser[i].erased___05F1___05Fready; }
    const auto& channels__1__flush__payload(int i = 0) const { return write_splitter[i].flush___05F1___05Fpayload; }
    const auto& channels__1__flush__valid(int i = 0) const { return write_splitter[i].flush___05F1___05Fvalid; }
    const auto& broadcast__data(int i = 0) const { return write_fetch[i].data; }
    const auto& broadcast__counter_select(int i = 0) const { return register_file[i].channel_counters___05Fselect; }
    const auto& data_valid(int i = 0) const { return write_fetch[i].data_valid; }
    const auto& channel_reset(int i = 0) const { return rest[i].channel_reset; }

  private:
    void carry_from_rest(int i) {
        if (rest.word_changed<0>(i)) {
            {
                const auto& from = rest[i];
                auto& to = completion[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port14___05Freset, from.port52___05Freset);
                completion.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = completion_merge[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port7___05Freset, from.port52___05Freset);
                completion_merge.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port5___05Freset, from.port52___05Freset);
                counters.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = decoder[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port5___05Freset, from.port52___05Freset);
                decoder.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = event_slices[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port6___05Freset, from.port52___05Freset);
                event_slices.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = fetch[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.enable, from.port51___05Fsignal);
                wake_if_changed |= flashtrain::carry(to.port18___05Freset, from.port52___05Freset);
                fetch.mark_input_changed(i, mark_input_changed);
                fetch.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = head_slices[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port10___05Freset, from.port52___05Freset);
                head_slices.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = programmed[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port9___05Freset, from.port52___05Freset);
                programmed.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = queue_mux[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port12___05Freset, from.port52___05Freset);
                queue_mux.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = read_read_return[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port20___05Freset, from.port52___05Freset);
                read_read_return.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = read_read_return_arbiter[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port5___05Freset, from.port52___05Freset);
                read_read_return_arbiter.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = read_splitter[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port6___05Freset, from.port52___05Freset);
                read_splitter.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = register_file[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.fatal, from.port47___05Ffatal);
                mark_input_changed |= flashtrain::carry(to.idle, from.port48___05Fidle);
                mark_input_changed |= flashtrain::carry(to.ready, from.port49___05Fready);
                mark_input_changed |= flashtrain::carry(to.recovering, from.port50___05Frecovering);
                register_file.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = seconds[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port1___05Freset, from.port52___05Freset);
                seconds.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = stopwatch[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port0___05Freset, from.port52___05Freset);
                stopwatch.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = tracker[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port14___05Freset, from.port52___05Freset);
                tracker.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = write_fetch[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port9___05Freset, from.port52___05Freset);
                write_fetch.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = write_merge[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port9___05Freset, from.port52___05Freset);
                write_merge.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = write_splitter[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port14___05Freset, from.port52___05Freset);
                write_splitter.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = zones_allocator[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port17___05Freset, from.port52___05Freset);
                zones_allocator.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = zones_eraser[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port12___05Freset, from.port52___05Freset);
                zones_eraser.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port35___05Freset, from.port52___05Freset);
                mark_input_changed |= flashtrain::carry(to.read___05Fready, from.port53___05Fw_rdy);
                mark_input_changed |= flashtrain::carry(to.write___05Fready, from.port54___05Fw_rdy);
                zones_manager.mark_input_changed(i, mark_input_changed);
                zones_manager.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = zones_report[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port13___05Freset, from.port52___05Freset);
                zones_report.wake_if_changed(i, wake_if_changed);
            }
        }
        if (rest.word_changed<1>(i)) {
            {
                const auto& from = rest[i];
                auto& to = data_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.quiesce, from.port64___05Fquiesce);
                data_guard.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = queue_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.quiesce, from.port64___05Fquiesce);
                queue_guard.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = read_read_return[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port9___05Fsignature___05Fen, from.port61___05Fjob_begins);
                mark_input_changed |= flashtrain::carry(to.data_valid, from.port62___05Fdata_valid);
                read_read_return.mark_input_changed(i, mark_input_changed);
                read_read_return.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = read_splitter[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.jobs___05Fvalid, from.port60___05Fr_rdy);
                read_splitter.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = write_merge[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.inputs___05F1___05Fpayload, from.port58___05Finputs___05F1___05Fpayload);
                write_merge.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = write_splitter[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.flush_done, from.port55___05Fflush_done);
                wake_if_changed |= flashtrain::carry(to.jobs___05Fvalid, from.port57___05Fr_rdy);
                write_splitter.wake_if_changed(i, wake_if_changed);
            }
        }
        if (rest.word_changed<2>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (rest.word_changed<3>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (rest.word_changed<4>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (rest.word_changed<5>(i)) {
            {
                const auto& from = rest[i];
                auto& to = counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.pulses, from.port63___05Fpulses);
                counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (rest.word_changed<6>(i)) {
            {
                const auto& from = rest[i];
                auto& to = register_file[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.channel_counters___05Fvalue, from.port46___05Fchannel_counters___05Fvalue);
                register_file.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = rest[i];
            auto& to = read_read_return[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.port18___05Fjob, from.port59___05Fr_port___05Fdata);
            read_read_return.wake_if_changed(i, wake_if_changed);
        }
        {
            const auto& from = rest[i];
            auto& to = read_splitter[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.jobs___05Fpayload, from.port59___05Fr_port___05Fdata);
            read_splitter.wake_if_changed(i, wake_if_changed);
        }
        {
            const auto& from = rest[i];
            auto& to = write_splitter[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.jobs___05Fpayload, from.port56___05Fr_port___05Fdata);
            write_splitter.wake_if_changed(i, wake_if_changed);
        }
    }
    void carry_from_register_file(int i) {
        if (register_file.word_changed<0>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = register_file[i];
                auto& to = counters[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fsample, from.port55___05Freading);
                mark_input_changed |= flashtrain::carry(to.port___05Fselect, from.counters___05Fselect);
                counters.mark_input_changed(i, mark_input_changed);
                counters.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.port4___05Fchannel_select, from.channel_select);
                mark_input_changed |= flashtrain::carry(to.port19___05Fenable, from.enable);
                wake_if_changed |= flashtrain::carry(to.port33___05Fraw, from.raw);
                rest.mark_input_changed(i, mark_input_changed);
                rest.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = zones_allocator[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.factory, from.factory);
                wake_if_changed |= flashtrain::carry(to.port20___05Fselected_wear___05Faddr, from.zone_select);
                zones_allocator.mark_input_changed(i, mark_input_changed);
                zones_allocator.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port29___05Frecover, from.recover);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (register_file.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (register_file.word_changed<2>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = completion[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.queues___05F0___05Fcq_size, from.queues___05F0___05Fcq_size);
                completion.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = fetch[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.queues___05F0___05Fcq_head, from.queues___05F0___05Fcq_head);
                mark_input_changed |= flashtrain::carry(to.queues___05F0___05Fcq_size, from.queues___05F0___05Fcq_size);
                wake_if_changed |= flashtrain::carry(to.queues___05F0___05Fsq_size, from.queues___05F0___05Fsq_size);
                mark_input_changed |= flashtrain::carry(to.queues___05F0___05Fsq_tail, from.queues___05F0___05Fsq_tail);
                fetch.mark_input_changed(i, mark_input_changed);
                fetch.wake_if_changed(i, wake_if_changed);
            }
        }
        if (register_file.word_changed<3>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = completion[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.queues___05F1___05Fcq_size, from.queues___05F1___05Fcq_size);
                completion.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = fetch[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.queues___05F1___05Fcq_head, from.queues___05F1___05Fcq_head);
                mark_input_changed |= flashtrain::carry(to.queues___05F1___05Fcq_size, from.queues___05F1___05Fcq_size);
                wake_if_changed |= flashtrain::carry(to.queues___05F1___05Fsq_size, from.queues___05F1___05Fsq_size);
                mark_input_changed |= flashtrain::carry(to.queues___05F1___05Fsq_tail, from.queues___05F1___05Fsq_tail);
                fetch.mark_input_changed(i, mark_input_changed);
                fetch.wake_if_changed(i, wake_if_changed);
            }
        }
        if (register_file.word_changed<4>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = decoder[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.streams___05F0, from.streams___05F0);
                mark_input_changed |= flashtrain::carry(to.streams___05F1, from.streams___05F1);
                decoder.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.streams___05F0, from.streams___05F0);
                mark_input_changed |= flashtrain::carry(to.streams___05F1, from.streams___05F1);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (register_file.word_changed<5>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = decoder[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.streams___05F2, from.streams___05F2);
                mark_input_changed |= flashtrain::carry(to.streams___05F3, from.streams___05F3);
                decoder.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.streams___05F2, from.streams___05F2);
                mark_input_changed |= flashtrain::carry(to.streams___05F3, from.streams___05F3);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (register_file.word_changed<6>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = decoder[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.streams___05F4, from.streams___05F4);
                mark_input_changed |= flashtrain::carry(to.streams___05F5, from.streams___05F5);
                decoder.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.streams___05F4, from.streams___05F4);
                mark_input_changed |= flashtrain::carry(to.streams___05F5, from.streams___05F5);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (register_file.word_changed<7>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = decoder[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.streams___05F6, from.streams___05F6);
                mark_input_changed |= flashtrain::carry(to.streams___05F7, from.streams___05F7);
                decoder.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = register_file[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.streams___05F6, from.streams___05F6);
                mark_input_changed |= flashtrain::carry(to.streams___05F7, from.streams___05F7);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (register_file.word_changed<8>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.time, from.time);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (register_file.word_changed<9>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = fetch[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.queues___05F0___05Fsq_base, from.queues___05F0___05Fsq_base);
                fetch.wake_if_changed(i, wake_if_changed);
            }
        }
        if (register_file.word_changed<10>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = fetch[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.queues___05F1___05Fsq_base, from.queues___05F1___05Fsq_base);
                fetch.wake_if_changed(i, wake_if_changed);
            }
        }
        if (register_file.word_changed<11>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = decoder[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.memory_bytes, from.memory_bytes);
                decoder.mark_input_changed(i, mark_input_changed);
            }
        }
        if (register_file.word_changed<12>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = completion[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.queues___05F0___05Fcq_base, from.queues___05F0___05Fcq_base);
                completion.mark_input_changed(i, mark_input_changed);
            }
        }
        if (register_file.word_changed<13>(i)) {
            {
                const auto& from = register_file[i];
                auto& to = completion[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.queues___05F1___05Fcq_base, from.queues___05F1___05Fcq_base);
                completion.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_fetch(int i) {
        if (fetch.word_changed<0>(i)) {
            {
                const auto& from = fetch[i];
                auto& to = decoder[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.entries___05Fvalid, from.entries___05Fvalid);
                decoder.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = fetch[i];
                auto& to = queue_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.read___05Far___05Fvalid, from.axi___05Far___05Fvalid);
                queue_guard.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = fetch[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port23___05Ffetched, from.port0___05Flast);
                mark_input_changed |= flashtrain::carry(to.port25___05Fidle, from.idle);
                rest.mark_input_changed(i, mark_input_changed);
            }
        }
        if (fetch.word_changed<1>(i)) {
            {
                const auto& from = fetch[i];
                auto& to = queue_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.read___05Fr___05Fready, from.axi___05Fr___05Fready);
                queue_guard.mark_input_changed(i, mark_input_changed);
            }
        }
        if (fetch.word_changed<2>(i)) {
            {
                const auto& from = fetch[i];
                auto& to = completion[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.sq_head___05F0, from.head___05F0);
                mark_input_changed |= flashtrain::carry(to.sq_head___05F1, from.head___05F1);
                completion.mark_input_changed(i, mark_input_changed);
            }
        }
        if (fetch.word_changed<3>(i)) {
            {
                const auto& from = fetch[i];
                auto& to = queue_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Finput___05Fpayload, from.axi___05Far___05Fpayload);
                queue_guard.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = fetch[i];
            auto& to = decoder[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.entries___05Fpayload, from.entries___05Fpayload);
            decoder.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_decoder(int i) {
        if (decoder.word_changed<0>(i)) {
            {
                const auto& from = decoder[i];
                auto& to = fetch[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.entries___05Fready, from.port0___05Fadvance);
                fetch.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = decoder[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.commands___05Fvalid, from.commands___05Fvalid);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = decoder[i];
            auto& to = zones_manager[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.port19___05Fcommand, from.commands___05Fpayload);
            zones_manager.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_zones_manager(int i) {
        if (zones_manager.word_changed<0>(i)) {
            {
                const auto& from = zones_manager[i];
                auto& to = decoder[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.commands___05Fready, from.commands___05Fready);
                decoder.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = zones_manager[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port27___05Fidle, from.idle);
                mark_input_changed |= flashtrain::carry(to.port35___05Fready, from.port1___05Fready);
                mark_input_changed |= flashtrain::carry(to.port37___05Frecovering, from.port2___05Frecovering);
                mark_input_changed |= flashtrain::carry(to.port41___05Fw_en, from.write___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.port42___05Fw_en, from.read___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.port45___05Fzone_waits, from.zone_waits);
                rest.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = zones_manager[i];
                auto& to = zones_allocator[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.recovering, from.port2___05Frecovering);
                wake_if_changed |= flashtrain::carry(to.next___05Fready, from.next_zone___05Fready);
                zones_allocator.mark_input_changed(i, mark_input_changed);
                zones_allocator.wake_if_changed(i, wake_if_changed);
            }
        }
        if (zones_manager.word_changed<1>(i)) {
            {
                const auto& from = zones_manager[i];
                auto& to = tracker[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.opening___05Fvalid, from.open___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.retired___05Fready, from.port61___05Fretired___05Fready);
                tracker.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = zones_manager[i];
                auto& to = zones_allocator[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.release___05Fpayload, from.release___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.release___05Fvalid, from.release___05Fvalid);
                wake_if_changed |= flashtrain::carry(to.restored___05Fvalid, from.port53___05Fphysical___05Fvalid);
                zones_allocator.mark_input_changed(i, mark_input_changed);
                zones_allocator.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = zones_manager[i];
                auto& to = zones_report[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.done___05Fready, from.report_done___05Fready);
                mark_input_changed |= flashtrain::carry(to.due, from.port55___05Fdue);
                wake_if_changed |= flashtrain::carry(to.request___05Fvalid, from.report___05Fvalid);
                zones_report.mark_input_changed(i, mark_input_changed);
                zones_report.wake_if_changed(i, wake_if_changed);
            }
        }
        if (zones_manager.word_changed<2>(i)) {
            {
                const auto& from = zones_manager[i];
                auto& to = completion_merge[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.inputs___05F1___05Fvalid, from.answers___05Fvalid);
                completion_merge.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = zones_manager[i];
                auto& to = tracker[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.tags___05Fready, from.tags___05Fready);
                tracker.mark_input_changed(i, mark_input_changed);
            }
        }
        if (zones_manager.word_changed<3>(i)) {
            {
                const auto& from = zones_manager[i];
                auto& to = register_file[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.generation___05F0, from.generation___05F0);
                mark_input_changed |= flashtrain::carry(to.generation___05F1, from.generation___05F1);
                mark_input_changed |= flashtrain::carry(to.generation___05F2, from.generation___05F2);
                mark_input_changed |= flashtrain::carry(to.generation___05F3, from.generation___05F3);
                register_file.mark_input_changed(i, mark_input_changed);
            }
        }
        if (zones_manager.word_changed<4>(i)) {
            {
                const auto& from = zones_manager[i];
                auto& to = register_file[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.generation___05F4, from.generation___05F4);
                mark_input_changed |= flashtrain::carry(to.generation___05F5, from.generation___05F5);
                mark_input_changed |= flashtrain::carry(to.generation___05F6, from.generation___05F6);
                mark_input_changed |= flashtrain::carry(to.generation___05F7, from.generation___05F7);
                register_file.mark_input_changed(i, mark_input_changed);
            }
        }
        if (zones_manager.word_changed<5>(i)) {
            {
                const auto& from = zones_manager[i];
                auto& to = register_file[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.sequence, from.port16___05Fsequence);
                register_file.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = zones_manager[i];
                auto& to = zones_allocator[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.restored___05Fpayload, from.port52___05Fphysical___05Fpayload);
                zones_allocator.mark_input_changed(i, mark_input_changed);
            }
        }
        if (zones_manager.word_changed<6>(i)) {
            {
                const auto& from = zones_manager[i];
                auto& to = zones_report[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.request___05Fpayload, from.port57___05Freport);
                zones_report.mark_input_changed(i, mark_input_changed);
            }
        }
        if (zones_manager.word_changed<7>(i)) {
            {
                const auto& from = zones_manager[i];
                auto& to = completion_merge[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.inputs___05F1___05Fpayload, from.answers___05Fpayload);
                completion_merge.wake_if_changed(i, wake_if_changed);
            }
        }
        {
            const auto& from = zones_manager[i];
            auto& to = rest[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.port43___05Fw_port___05Fdata, from.port5___05Fwrite);
            wake_if_changed |= flashtrain::carry(to.port44___05Fw_port___05Fdata, from.port6___05Fread);
            rest.wake_if_changed(i, wake_if_changed);
        }
        {
            const auto& from = zones_manager[i];
            auto& to = tracker[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.opening___05Fpayload, from.port59___05Fopening);
            tracker.wake_if_changed(i, wake_if_changed);
        }
        {
            const auto& from = zones_manager[i];
            auto& to = zones_report[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.entry, from.port56___05Fentry);
            zones_report.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_zones_allocator(int i) {
        if (zones_allocator.word_changed<0>(i)) {
            {
                const auto& from = zones_allocator[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port20___05Ferases, from.erases);
                mark_input_changed |= flashtrain::carry(to.port28___05Fidle, from.idle);
                mark_input_changed |= flashtrain::carry(to.port36___05Fready, from.ready);
                rest.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = zones_allocator[i];
                auto& to = zones_eraser[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.done___05Fready, from.erased___05Fready);
                zones_eraser.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = zones_allocator[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.exhausted, from.exhausted);
                mark_input_changed |= flashtrain::carry(to.next_zone___05Fvalid, from.next___05Fvalid);
                wake_if_changed |= flashtrain::carry(to.port27___05Fphysical___05Fready, from.restored___05Fready);
                wake_if_changed |= flashtrain::carry(to.release___05Fready, from.release___05Fready);
                zones_manager.mark_input_changed(i, mark_input_changed);
                zones_manager.wake_if_changed(i, wake_if_changed);
            }
        }
        if (zones_allocator.word_changed<1>(i)) {
            {
                const auto& from = zones_allocator[i];
                auto& to = zones_eraser[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.request___05Fpayload, from.erase___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.request___05Fvalid, from.erase___05Fvalid);
                zones_eraser.mark_input_changed(i, mark_input_changed);
                zones_eraser.wake_if_changed(i, wake_if_changed);
            }
        }
        if (zones_allocator.word_changed<2>(i)) {
            {
                const auto& from = zones_allocator[i];
                auto& to = register_file[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.zone_wear, from.port3___05Fselected_wear___05Fdata);
                register_file.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = zones_allocator[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.next_zone___05Fpayload, from.next___05Fpayload);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_zones_eraser(int i) {
        if (zones_eraser.word_changed<0>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = zones_eraser[i];
                auto& to = zones_allocator[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.erase___05Fready, from.request___05Fready);
                mark_input_changed |= flashtrain::carry(to.erased___05Fpayload, from.done___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.erased___05Fvalid, from.done___05Fvalid);
                zones_allocator.mark_input_changed(i, mark_input_changed);
                zones_allocator.wake_if_changed(i, wake_if_changed);
            }
        }
        if (zones_eraser.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
        }
    }
    void carry_from_zones_report(int i) {
        if (zones_report.word_changed<0>(i)) {
            {
                const auto& from = zones_report[i];
                auto& to = queue_mux[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.writers___05F1___05Faw___05Fvalid, from.axi___05Faw___05Fvalid);
                queue_mux.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = zones_report[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.report___05Fready, from.request___05Fready);
                wake_if_changed |= flashtrain::carry(to.report_done___05Fvalid, from.done___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.report_zone, from.zone);
                zones_manager.mark_input_changed(i, mark_input_changed);
                zones_manager.wake_if_changed(i, wake_if_changed);
            }
        }
        if (zones_report.word_changed<1>(i)) {
            {
                const auto& from = zones_report[i];
                auto& to = queue_mux[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.writers___05F1___05Fb___05Fready, from.axi___05Fb___05Fready);
                mark_input_changed |= flashtrain::carry(to.writers___05F1___05Fw___05Fvalid, from.axi___05Fw___05Fvalid);
                queue_mux.mark_input_changed(i, mark_input_changed);
            }
        }
        if (zones_report.word_changed<2>(i)) {
            {
                const auto& from = zones_report[i];
                auto& to = zones_manager[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.report_done___05Fpayload, from.done___05Fpayload);
                zones_manager.wake_if_changed(i, wake_if_changed);
            }
        }
        if (zones_report.word_changed<3>(i)) {
            {
                const auto& from = zones_report[i];
                auto& to = queue_mux[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.writers___05F1___05Faw___05Fpayload, from.axi___05Faw___05Fpayload);
                queue_mux.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = zones_report[i];
            auto& to = queue_mux[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.writers___05F1___05Fw___05Fpayload, from.axi___05Fw___05Fpayload);
            queue_mux.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_tracker(int i) {
        if (tracker.word_changed<0>(i)) {
            {
                const auto& from = tracker[i];
                auto& to = completion_merge[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.inputs___05F0___05Fvalid, from.answers___05Fvalid);
                completion_merge.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = tracker[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port26___05Fidle, from.idle);
                mark_input_changed |= flashtrain::carry(to.port34___05Freading, from.reading);
                rest.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = tracker[i];
                auto& to = write_merge[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.output___05Fready, from.arrived___05Fready);
                write_merge.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = tracker[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port22___05Ffree_tag, from.tags___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.open___05Fready, from.opening___05Fready);
                mark_input_changed |= flashtrain::carry(to.retired___05Fvalid, from.retired___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.tags___05Fvalid, from.tags___05Fvalid);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (tracker.word_changed<1>(i)) {
            {
                const auto& from = tracker[i];
                auto& to = programmed[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.output___05Fready, from.programmed___05Fready);
                programmed.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = tracker[i];
                auto& to = read_read_return[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port19___05Foutput___05Fready, from.returned___05Fready);
                read_read_return.mark_input_changed(i, mark_input_changed);
            }
        }
        if (tracker.word_changed<2>(i)) {
            {
                const auto& from = tracker[i];
                auto& to = stopwatch[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.span, from.span);
                stopwatch.wake_if_changed(i, wake_if_changed);
            }
        }
        if (tracker.word_changed<3>(i)) {
            {
                const auto& from = tracker[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port36___05Fretired___05Fpayload, from.retired___05Fpayload);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (tracker.word_changed<4>(i)) {
            {
                const auto& from = tracker[i];
                auto& to = completion_merge[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.inputs___05F0___05Fpayload, from.answers___05Fpayload);
                completion_merge.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_completion_merge(int i) {
        if (completion_merge.word_changed<0>(i)) {
            {
                const auto& from = completion_merge[i];
                auto& to = tracker[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.answers___05Fready, from.inputs___05F0___05Fready);
                tracker.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = completion_merge[i];
                auto& to = zones_manager[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.answers___05Fready, from.inputs___05F1___05Fready);
                zones_manager.mark_input_changed(i, mark_input_changed);
            }
        }
        if (completion_merge.word_changed<1>(i)) {
            {
                const auto& from = completion_merge[i];
                auto& to = completion[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port9___05Foutput___05Fvalid, from.output___05Fvalid);
                completion.mark_input_changed(i, mark_input_changed);
            }
        }
        if (completion_merge.word_changed<2>(i)) {
            {
                const auto& from = completion_merge[i];
                auto& to = completion[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Foutput___05Fpayload, from.output___05Fpayload);
                completion.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_completion(int i) {
        if (completion.word_changed<0>(i)) {
            {
                const auto& from = completion[i];
                auto& to = completion_merge[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.output___05Fready, from.port3___05Fdone);
                completion_merge.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = completion[i];
                auto& to = fetch[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.answered, from.written);
                fetch.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = completion[i];
                auto& to = register_file[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.completed, from.written);
                register_file.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = completion[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port21___05Ffailed, from.failed);
                mark_input_changed |= flashtrain::carry(to.port22___05Ffault, from.fault);
                rest.mark_input_changed(i, mark_input_changed);
            }
        }
        if (completion.word_changed<1>(i)) {
            {
                const auto& from = completion[i];
                auto& to = queue_mux[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.writers___05F0___05Faw___05Fvalid, from.axi___05Faw___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.writers___05F0___05Fb___05Fready, from.axi___05Fb___05Fready);
                queue_mux.mark_input_changed(i, mark_input_changed);
            }
        }
        if (completion.word_changed<2>(i)) {
            {
                const auto& from = completion[i];
                auto& to = queue_mux[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.writers___05F0___05Fw___05Fvalid, from.axi___05Fw___05Fvalid);
                queue_mux.mark_input_changed(i, mark_input_changed);
            }
        }
        if (completion.word_changed<3>(i)) {
            {
                const auto& from = completion[i];
                auto& to = queue_mux[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.writers___05F0___05Faw___05Fpayload, from.axi___05Faw___05Fpayload);
                queue_mux.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = completion[i];
            auto& to = queue_mux[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.writers___05F0___05Fw___05Fpayload, from.axi___05Fw___05Fpayload);
            queue_mux.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_write_splitter(int i) {
        if (write_splitter.word_changed<0>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = write_splitter[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port1___05Fallocated___05Fvalid, from.allocated___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.port24___05Fflushed___05Fpayload, from.flushed___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.port32___05Fr_en, from.jobs___05Fready);
                mark_input_changed |= flashtrain::carry(to.port38___05Fstall_buffer, from.stalled);
                rest.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = write_splitter[i];
                auto& to = write_fetch[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.allocated___05Fvalid, from.allocated___05Fvalid);
                write_fetch.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = write_splitter[i];
                auto& to = write_merge[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.inputs___05F1___05Fvalid, from.flushed___05Fvalid);
                write_merge.mark_input_changed(i, mark_input_changed);
            }
        }
        if (write_splitter.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (write_splitter.word_changed<2>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (write_splitter.word_changed<3>(i)) {
            {
                const auto& from = write_splitter[i];
                auto& to = read_splitter[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.issued, from.issued);
                read_splitter.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = write_splitter[i];
                auto& to = write_fetch[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.allocated___05Fpayload, from.allocated___05Fpayload);
                write_fetch.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = write_splitter[i];
                auto& to = zones_manager[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.issued, from.issued);
                zones_manager.wake_if_changed(i, wake_if_changed);
            }
        }
        changed_ |= uint64_t{1} << i;
    }
    void carry_from_write_fetch(int i) {
        if (write_fetch.word_changed<0>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = write_fetch[i];
                auto& to = data_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.read___05Far___05Fvalid, from.port13___05Fr_rdy);
                mark_input_changed |= flashtrain::carry(to.read___05Fr___05Fready, from.axi___05Fr___05Fready);
                data_guard.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = write_fetch[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port0___05Fallocated___05Fready, from.port0___05Faccepts);
                mark_input_changed |= flashtrain::carry(to.port2___05Fbusy, from.busy);
                mark_input_changed |= flashtrain::carry(to.port39___05Fstall_memory, from.starved);
                rest.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = write_fetch[i];
                auto& to = write_merge[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.inputs___05F0___05Fpayload, from.port10___05Fr_port___05Fdata);
                mark_input_changed |= flashtrain::carry(to.inputs___05F0___05Fvalid, from.port11___05Fr_rdy);
                write_merge.mark_input_changed(i, mark_input_changed);
                write_merge.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = write_fetch[i];
                auto& to = write_splitter[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.allocated___05Fready, from.port0___05Faccepts);
                write_splitter.mark_input_changed(i, mark_input_changed);
            }
        }
        if (write_fetch.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (write_fetch.word_changed<2>(i)) {
            {
                const auto& from = write_fetch[i];
                auto& to = data_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Finput___05Fpayload, from.axi___05Far___05Fpayload);
                data_guard.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_write_merge(int i) {
        if (write_merge.word_changed<0>(i)) {
            {
                const auto& from = write_merge[i];
                auto& to = tracker[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.arrived___05Fpayload, from.output___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.arrived___05Fvalid, from.output___05Fvalid);
                tracker.mark_input_changed(i, mark_input_changed);
                tracker.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = write_merge[i];
                auto& to = write_fetch[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Fr_en, from.inputs___05F0___05Fready);
                write_fetch.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = write_merge[i];
                auto& to = write_splitter[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.flushed___05Fready, from.inputs___05F1___05Fready);
                write_splitter.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_read_splitter(int i) {
        if (read_splitter.word_changed<0>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = read_splitter[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port29___05Fjobs___05Fready, from.jobs___05Fready);
                rest.mark_input_changed(i, mark_input_changed);
            }
        }
        if (read_splitter.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (read_splitter.word_changed<2>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (read_splitter.word_changed<3>(i)) {
            changed_ |= uint64_t{1} << i;
        }
    }
    void carry_from_read_read_return_arbiter(int i) {
        if (read_read_return_arbiter.word_changed<0>(i)) {
            {
                const auto& from = read_read_return_arbiter[i];
                auto& to = head_slices[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Foutput___05Fready, from.heads___05F0___05Fready);
                head_slices.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = read_read_return_arbiter[i];
                auto& to = read_read_return[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port15___05Fchosen___05Fvalid, from.chosen___05Fvalid);
                read_read_return.wake_if_changed(i, wake_if_changed);
            }
        }
        if (read_read_return_arbiter.word_changed<1>(i)) {
            {
                const auto& from = read_read_return_arbiter[i];
                auto& to = head_slices[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port9___05Foutput___05Fready, from.heads___05F1___05Fready);
                head_slices.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = read_read_return_arbiter[i];
            auto& to = read_read_return[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.port14___05Fchosen___05Fpayload, from.chosen___05Fpayload);
            read_read_return.wake_if_changed(i, wake_if_changed);
        }
    }
    void carry_from_read_read_return(int i) {
        if (read_read_return.word_changed<0>(i)) {
            {
                const auto& from = read_read_return[i];
                auto& to = rest[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port3___05Fbusy, from.busy);
                mark_input_changed |= flashtrain::carry(to.port15___05Fdata_chosen, from.data_chosen);
                mark_input_changed |= flashtrain::carry(to.port16___05Fdata_ready, from.data_ready);
                mark_input_changed |= flashtrain::carry(to.port30___05Fno_page, from.no_page);
                mark_input_changed |= flashtrain::carry(to.port31___05Fpage_read, from.port4___05Foutput___05Fready);
                mark_input_changed |= flashtrain::carry(to.port40___05Fstall_memory, from.stall_memory);
                rest.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = read_read_return[i];
                auto& to = tracker[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.returned___05Fpayload, from.port6___05Foutput___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.returned___05Fvalid, from.port7___05Foutput___05Fvalid);
                tracker.mark_input_changed(i, mark_input_changed);
                tracker.wake_if_changed(i, wake_if_changed);
            }
        }
        if (read_read_return.word_changed<1>(i)) {
            {
                const auto& from = read_read_return[i];
                auto& to = data_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.write___05Faw___05Fvalid, from.port22___05Fr_rdy);
                mark_input_changed |= flashtrain::carry(to.write___05Fb___05Fready, from.axi___05Fb___05Fready);
                mark_input_changed |= flashtrain::carry(to.write___05Fw___05Fvalid, from.axi___05Fw___05Fvalid);
                data_guard.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = read_read_return[i];
                auto& to = read_read_return_arbiter[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.chosen___05Fready, from.port8___05Fchosen___05Fready);
                read_read_return_arbiter.mark_input_changed(i, mark_input_changed);
            }
        }
        if (read_read_return.word_changed<2>(i)) {
            {
                const auto& from = read_read_return[i];
                auto& to = data_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port9___05Finput___05Fpayload, from.axi___05Faw___05Fpayload);
                data_guard.mark_input_changed(i, mark_input_changed);
            }
        }
        if (read_read_return.word_changed<3>(i)) {
            {
                const auto& from = read_read_return[i];
                auto& to = data_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.write___05Fw___05Fpayload, from.axi___05Fw___05Fpayload);
                data_guard.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_event_slices(int i) {
        if (event_slices.word_changed<0>(i)) {
            {
                const auto& from = event_slices[i];
                auto& to = programmed[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.inputs___05F0___05Fpayload, from.port7___05Foutput___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.inputs___05F0___05Fvalid, from.port8___05Foutput___05Fvalid);
                wake_if_changed |= flashtrain::carry(to.inputs___05F1___05Fpayload, from.port9___05Foutput___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.inputs___05F1___05Fvalid, from.port10___05Foutput___05Fvalid);
                programmed.mark_input_changed(i, mark_input_changed);
                programmed.wake_if_changed(i, wake_if_changed);
            }
        }
        if (event_slices.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
        }
    }
    void carry_from_head_slices(int i) {
        if (head_slices.word_changed<0>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = head_slices[i];
                auto& to = read_read_return_arbiter[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.heads___05F0___05Fvalid, from.port1___05Foutput___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.heads___05F1___05Fvalid, from.port3___05Foutput___05Fvalid);
                read_read_return_arbiter.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = head_slices[i];
            auto& to = read_read_return_arbiter[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.heads___05F0___05Fpayload, from.port0___05Foutput___05Fpayload);
            mark_input_changed |= flashtrain::carry(to.heads___05F1___05Fpayload, from.port2___05Foutput___05Fpayload);
            read_read_return_arbiter.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_programmed(int i) {
        if (programmed.word_changed<0>(i)) {
            {
                const auto& from = programmed[i];
                auto& to = event_slices[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port4___05Foutput___05Fready, from.inputs___05F0___05Fready);
                mark_input_changed |= flashtrain::carry(to.port5___05Foutput___05Fready, from.inputs___05F1___05Fready);
                event_slices.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = programmed[i];
                auto& to = tracker[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.programmed___05Fpayload, from.output___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.programmed___05Fvalid, from.output___05Fvalid);
                tracker.mark_input_changed(i, mark_input_changed);
                tracker.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_stopwatch(int i) {
        if (stopwatch.word_changed<0>(i)) {
            {
                const auto& from = stopwatch[i];
                auto& to = counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.latency, from.latency);
                counters.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_counters(int i) {
        if (counters.word_changed<0>(i)) {
            {
                const auto& from = counters[i];
                auto& to = register_file[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.counters___05Fvalue, from.port___05Fvalue);
                register_file.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_seconds(int i) {
        if (seconds.word_changed<0>(i)) {
            {
                const auto& from = seconds[i];
                auto& to = register_file[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.second, from.second);
                register_file.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_queue_mux(int i) {
        if (queue_mux.word_changed<0>(i)) {
            {
                const auto& from = queue_mux[i];
                auto& to = completion[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.port4___05Facknowledged, from.writers___05F0___05Fb___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.axi___05Faw___05Fready, from.writers___05F0___05Faw___05Fready);
                wake_if_changed |= flashtrain::carry(to.axi___05Fb___05Fpayload, from.writers___05F0___05Fb___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.axi___05Fw___05Fready, from.writers___05F0___05Fw___05Fready);
                completion.mark_input_changed(i, mark_input_changed);
                completion.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = queue_mux[i];
                auto& to = zones_report[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.axi___05Faw___05Fready, from.writers___05F1___05Faw___05Fready);
                wake_if_changed |= flashtrain::carry(to.axi___05Fb___05Fpayload, from.writers___05F1___05Fb___05Fpayload);
                wake_if_changed |= flashtrain::carry(to.axi___05Fb___05Fvalid, from.writers___05F1___05Fb___05Fvalid);
                wake_if_changed |= flashtrain::carry(to.axi___05Fw___05Fready, from.writers___05F1___05Fw___05Fready);
                zones_report.wake_if_changed(i, wake_if_changed);
            }
        }
        if (queue_mux.word_changed<1>(i)) {
            {
                const auto& from = queue_mux[i];
                auto& to = queue_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.write___05Faw___05Fvalid, from.axi___05Faw___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.write___05Fb___05Fready, from.axi___05Fb___05Fready);
                queue_guard.mark_input_changed(i, mark_input_changed);
            }
        }
        if (queue_mux.word_changed<2>(i)) {
            {
                const auto& from = queue_mux[i];
                auto& to = queue_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.write___05Fw___05Fvalid, from.axi___05Fw___05Fvalid);
                queue_guard.mark_input_changed(i, mark_input_changed);
            }
        }
        if (queue_mux.word_changed<3>(i)) {
            {
                const auto& from = queue_mux[i];
                auto& to = queue_guard[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port9___05Finput___05Fpayload, from.axi___05Faw___05Fpayload);
                queue_guard.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = queue_mux[i];
            auto& to = queue_guard[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.write___05Fw___05Fpayload, from.axi___05Fw___05Fpayload);
            queue_guard.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_data_guard(int i) {
        if (data_guard.word_changed<0>(i)) {
            {
                const auto& from = data_guard[i];
                auto& to = read_read_return[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.axi___05Faw___05Fready, from.write___05Faw___05Fready);
                mark_input_changed |= flashtrain::carry(to.axi___05Fb___05Fpayload, from.write___05Fb___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.axi___05Fb___05Fvalid, from.write___05Fb___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.axi___05Fw___05Fready, from.write___05Fw___05Fready);
                read_read_return.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = data_guard[i];
                auto& to = rest[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port17___05Fdrained, from.drained);
                rest.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = data_guard[i];
                auto& to = write_fetch[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.axi___05Far___05Fready, from.read___05Far___05Fready);
                mark_input_changed |= flashtrain::carry(to.axi___05Fr___05Fvalid, from.read___05Fr___05Fvalid);
                write_fetch.mark_input_changed(i, mark_input_changed);
            }
        }
        if (data_guard.word_changed<4>(i)) {
            {
                const auto& from = data_guard[i];
                auto& to = write_fetch[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.axi___05Fr___05Fpayload, from.read___05Fr___05Fpayload);
                write_fetch.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_queue_guard(int i) {
        if (queue_guard.word_changed<0>(i)) {
            {
                const auto& from = queue_guard[i];
                auto& to = fetch[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.axi___05Far___05Fready, from.read___05Far___05Fready);
                mark_input_changed |= flashtrain::carry(to.axi___05Fr___05Fvalid, from.read___05Fr___05Fvalid);
                fetch.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = queue_guard[i];
                auto& to = queue_mux[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.axi___05Faw___05Fready, from.write___05Faw___05Fready);
                mark_input_changed |= flashtrain::carry(to.axi___05Fb___05Fpayload, from.write___05Fb___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.axi___05Fb___05Fvalid, from.write___05Fb___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.axi___05Fw___05Fready, from.write___05Fw___05Fready);
                queue_mux.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = queue_guard[i];
                auto& to = rest[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port18___05Fdrained, from.drained);
                rest.wake_if_changed(i, wake_if_changed);
            }
        }
        {
            const auto& from = queue_guard[i];
            auto& to = fetch[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.axi___05Fr___05Fpayload, from.read___05Fr___05Fpayload);
            fetch.mark_input_changed(i, mark_input_changed);
        }
    }
    uint64_t changed_ = 0;
    flashtrain::Part<Vfrontend_rest> rest;
    flashtrain::Part<Vfrontend_registerfile> register_file;
    flashtrain::Part<Vfrontend_submissionfetch> fetch;
    flashtrain::Part<Vfrontend_decoder> decoder;
    flashtrain::Part<Vfrontend_zonemanager> zones_manager;
    flashtrain::Part<Vfrontend_zoneallocator> zones_allocator;
    flashtrain::Part<Vfrontend_erasebroadcast> zones_eraser;
    flashtrain::Part<Vfrontend_zonereport> zones_report;
    flashtrain::Part<Vfrontend_commandtracker> tracker;
    flashtrain::Part<Vfrontend_streammerge> completion_merge;
    flashtrain::Part<Vfrontend_completionwriter> completion;
    flashtrain::Part<Vfrontend_writesplitter> write_splitter;
    flashtrain::Part<Vfrontend_writefetch> write_fetch;
    flashtrain::Part<Vfrontend_streammerge_1> write_merge;
    flashtrain::Part<Vfrontend_readsplitter> read_splitter;
    flashtrain::Part<Vfrontend_returnarbiter> read_read_return_arbiter;
    flashtrain::Part<Vfrontend_readreturn> read_read_return;
    flashtrain::Part<Vfrontend_registerslices> event_slices;
    flashtrain::Part<Vfrontend_registerslices_1> head_slices;
    flashtrain::Part<Vfrontend_streammerge_2> programmed;
    flashtrain::Part<Vfrontend_stopwatch> stopwatch;
    flashtrain::Part<Vfrontend_counters> counters;
    flashtrain::Part<Vfrontend_seconds> seconds;
    flashtrain::Part<Vfrontend_writemux> queue_mux;
    flashtrain::Part<Vfrontend_axiguard> data_guard;
    flashtrain::Part<Vfrontend_axiguard_1> queue_guard;
};
class Channel {
  public:
    Channel(VerilatedContext& context, int count) : rest{context, count}, engine_write_buffer_sets{context, count}, engine_write_buffer_results{context, count}, engine_write_buffer_identities{context, count}, engine_write_buffer_serializer{context, count}, engine_read_lookup{context, count}, engine_read_buffer_page_memory{context, count}, engine_read_buffer_free{context, count}, engine_read_buffer_sender{context, count}, engine_read_buffer{context, count}, engine_bus_arbiter{context, count}, engine_bus_turnaround{context, count}, engine_bus_sequencer{context, count}, engine_bus_operation{context, count}, engine_bus_pins{context, count}, engine_bus{context, count}, engine_block_table{context, count}, engine_eraser{context, count}, engine_agent_0_reader_sets_gathering{context, count}, engine_agent_0_reader_timer{context, count}, engine_agent_0_poller_array_timer{context, count}, engine_agent_0_poller_short_timer{context, count}, engine_agent_0_mux_gap{context, count}, engine_agent_0{context, count}, engine_counters_events{context, count}, engine_counters{context, count}, engine{context, count}, checker{context, count} {}
    // All parts follow their inputs. Returns the instances with changed outputs.
    uint64_t settle() {
        while (rest.dirty | engine_write_buffer_sets.dirty | engine_write_buffer_results.dirty | engine_write_buffer_identities.dirty | engine_write_buffer_serializer.dirty | engine_read_lookup.dirty | engine_read_buffer_page_memory.dirty | engine_read_buffer_free.dirty | engine_read_buffer_sender.dirty | engine_read_buffer.dirty | engine_bus_arbiter.dirty | engine_bus_turnaround.dirty | engine_bus_sequencer.dirty | engine_bus_operation.dirty | engine_bus_pins.dirty | engine_bus.dirty | engine_block_table.dirty | engine_eraser.dirty | engine_agent_0_reader_sets_gathering.dirty | engine_agent_0_reader_timer.dirty | engine_agent_0_poller_array_timer.dirty | engine_agent_0_poller_short_timer.dirty | engine_agent_0_mux_gap.dirty | engine_agent_0.dirty | engine_counters_events.dirty | engine_counters.dirty | engine.dirty | checker.dirty) {
            for (const int i : flashtrain::Each(rest.follow())) {
                rest.model(i).eval();
                carry_from_rest(i);
            }
            for (const int i : flashtrain::Each(engine_write_buffer_sets.wake_dirty())) {
                flashtrain::settle(engine_write_buffer_sets[i]);
                carry_from_engine_write_buffer_sets(i);
            }
            for (const int i : flashtrain::Each(engine_write_buffer_results.wake_dirty())) {
                flashtrain::settle(engine_write_buffer_results[i]);
                carry_from_engine_write_buffer_results(i);
            }
            for (const int i : flashtrain::Each(engine_write_buffer_identities.wake_dirty())) {
                flashtrain::settle(engine_write_buffer_identities[i]);
                carry_from_engine_write_buffer_identities(i);
            }
            for (const int i : flashtrain::Each(engine_write_buffer_serializer.wake_dirty())) {
                flashtrain::settle(engine_write_buffer_serializer[i]);
                carry_from_engine_write_buffer_serializer(i);
            }
            for (const int i : flashtrain::Each(engine_read_lookup.wake_dirty())) {
                flashtrain::settle(engine_read_lookup[i]);
                carry_from_engine_read_lookup(i);
            }
            for (const int i : flashtrain::Each(engine_read_buffer_page_memory.wake_dirty())) {
                flashtrain::settle(engine_read_buffer_page_memory[i]);
                carry_from_engine_read_buffer_page_memory(i);
            }
            for (const int i : flashtrain::Each(engine_read_buffer_free.wake_dirty())) {
                flashtrain::settle(engine_read_buffer_free[i]);
                carry_from_engine_read_buffer_free(i);
            }
            for (const int i : flashtrain::Each(engine_read_buffer_sender.wake_dirty())) {
                flashtrain::settle(engine_read_buffer_sender[i]);
                carry_from_engine_read_buffer_sender(i);
            }
            for (const int i : flashtrain::Each(engine_read_buffer.wake_dirty())) {
                flashtrain::settle(engine_read_buffer[i]);
                carry_from_engine_read_buffer(i);
            }
            for (const int i : flashtrain::Each(engine_bus_arbiter.wake_dirty())) {
                flashtrain::settle(engine_bus_arbiter[i]);
                carry_from_engine_bus_arbiter(i);
            }
            engine_bus_turnaround.wake_dirty();
            for (const int i : flashtrain::Each(engine_bus_sequencer.wake_dirty())) {
                flashtrain::settle(engine_bus_sequencer[i]);
                carry_from_engine_bus_sequencer(i);
            }
            for (const int i : flashtrain::Each(engine_bus_operation.wake_dirty())) {
                flashtrain::settle(engine_bus_operation[i]);
                carry_from_engine_bus_operation(i);
            }
            for (const int i : flashtrain::Each(engine_bus_pins.wake_dirty())) {
                flashtrain::settle(engine_bus_pins[i]);
                carry_from_engine_bus_pins(i);
            }
            for (const int i : flashtrain::Each(engine_bus.wake_dirty())) {
                flashtrain::settle(engine_bus[i]);
                carry_from_engine_bus(i);
            }
            engine_block_table.wake_dirty();
            for (const int i : flashtrain::Each(engine_eraser.wake_dirty())) {
                flashtrain::settle(engine_eraser[i]);
                carry_from_engine_eraser(i);
            }
            engine_agent_0_reader_sets_gathering.wake_dirty();
            engine_agent_0_reader_timer.wake_dirty();
            engine_agent_0_poller_array_timer.wake_dirty();
            engine_agent_0_poller_short_timer.wake_dirty();
            engine_agent_0_mux_gap.wake_dirty();
            for (const int i : flashtrain::Each(engine_agent_0.wake_dirty())) {
                flashtrain::settle(engine_agent_0[i]);
                carry_from_engine_agent_0(i);
            }
            engine_counters_events.wake_dirty();
            engine_counters.wake_dirty();
            for (const int i : flashtrain::Each(engine.wake_dirty())) {
                flashtrain::settle(engine[i]);
                carry_from_engine(i);
            }
            checker.wake_dirty();
        }
        return std::exchange(changed_, 0);
    }
    uint64_t changed_pins() { return std::exchange(pins_, 0); }
    // The instances in which the next edge may change something.
    uint64_t awake() const { return engine_write_buffer_sets.awake | engine_write_buffer_results.awake | engine_write_buffer_identities.awake | engine_write_buffer_serializer.awake | engine_read_lookup.awake | engine_read_buffer_page_memory.awake | engine_read_buffer_free.awake | engine_read_buffer_sender.awake | engine_read_buffer.awake | engine_bus_arbiter.awake | engine_bus_turnaround.awake | engine_bus_sequencer.awake | engine_bus_operation.awake | engine_bus_pins.awake | engine_bus.awake | engine_block_table.awake | engine_eraser.awake | engine_agent_0_reader_sets_gathering.awake | engine_agent_0_reader_timer.awake | engine_agent_0_poller_array_timer.awake | engine_agent_0_poller_short_timer.awake | engine_agent_0_mux_gap.awake | engine_agent_0.awake | engine_counters_events.awake | engine_counters.awake | engine.awake | checker.awake; }
    // The clock of these instances rises; settled before.
    void edge(uint64_t clock, uint64_t instances = ~uint64_t{0}) {
        engine_write_buffer_sets.moved = engine_write_buffer_sets.awake & instances;
        for (const int i : flashtrain::Each(engine_write_buffer_sets.moved)) flashtrain::rising_edge(engine_write_buffer_sets[i]);
        engine_write_buffer_sets.compare_in_intervals(clock);
        engine_write_buffer_results.moved = engine_write_buffer_results.awake & instances;
        for (const int i : flashtrain::Each(engine_write_buffer_results.moved)) flashtrain::rising_edge(engine_write_buffer_results[i]);
        engine_write_buffer_results.compare_after_edge();
        engine_write_buffer_identities.moved = engine_write_buffer_identities.awake & instances;
        for (const int i : flashtrain::Each(engine_write_buffer_identities.moved)) flashtrain::rising_edge(engine_write_buffer_identities[i]);
        engine_write_buffer_identities.compare_after_edge();
        engine_write_buffer_serializer.moved = engine_write_buffer_serializer.awake & instances;
        for (const int i : flashtrain::Each(engine_write_buffer_serializer.moved)) flashtrain::rising_edge(engine_write_buffer_serializer[i]);
        engine_write_buffer_serializer.compare_in_intervals(clock);
        engine_read_lookup.moved = engine_read_lookup.awake & instances;
        for (const int i : flashtrain::Each(engine_read_lookup.moved)) flashtrain::rising_edge(engine_read_lookup[i]);
        engine_read_lookup.compare_after_edge();
        engine_read_buffer_page_memory.moved = engine_read_buffer_page_memory.awake & instances;
        for (const int i : flashtrain::Each(engine_read_buffer_page_memory.moved)) flashtrain::rising_edge(engine_read_buffer_page_memory[i]);
        engine_read_buffer_page_memory.compare_in_intervals(clock);
        engine_read_buffer_free.moved = engine_read_buffer_free.awake & instances;
        for (const int i : flashtrain::Each(engine_read_buffer_free.moved)) flashtrain::rising_edge(engine_read_buffer_free[i]);
        engine_read_buffer_free.compare_in_intervals(clock);
        engine_read_buffer_sender.moved = engine_read_buffer_sender.awake & instances;
        for (const int i : flashtrain::Each(engine_read_buffer_sender.moved)) flashtrain::rising_edge(engine_read_buffer_sender[i]);
        engine_read_buffer_sender.compare_in_intervals(clock);
        engine_read_buffer.moved = engine_read_buffer.awake & instances;
        for (const int i : flashtrain::Each(engine_read_buffer.moved)) flashtrain::rising_edge(engine_read_buffer[i]);
        engine_read_buffer.compare_after_edge();
        engine_bus_arbiter.moved = engine_bus_arbiter.awake & instances;
        for (const int i : flashtrain::Each(engine_bus_arbiter.moved)) flashtrain::rising_edge(engine_bus_arbiter[i]);
        engine_bus_arbiter.compare_after_edge();
        engine_bus_turnaround.moved = engine_bus_turnaround.awake & instances;
        for (const int i : flashtrain::Each(engine_bus_turnaround.moved)) flashtrain::rising_edge(engine_bus_turnaround[i]);
        engine_bus_turnaround.compare_after_edge();
        engine_bus_sequencer.moved = engine_bus_sequencer.awake & instances;
        for (const int i : flashtrain::Each(engine_bus_sequencer.moved)) flashtrain::rising_edge(engine_bus_sequencer[i]);
        engine_bus_sequencer.compare_after_edge();
        engine_bus_operation.moved = engine_bus_operation.awake & instances;
        for (const int i : flashtrain::Each(engine_bus_operation.moved)) flashtrain::rising_edge(engine_bus_operation[i]);
        engine_bus_operation.compare_after_edge();
        engine_bus_pins.moved = engine_bus_pins.awake & instances;
        for (const int i : flashtrain::Each(engine_bus_pins.moved)) flashtrain::rising_edge(engine_bus_pins[i]);
        engine_bus_pins.compare_after_edge();
        engine_bus.moved = engine_bus.awake & instances;
        for (const int i : flashtrain::Each(engine_bus.moved)) flashtrain::rising_edge(engine_bus[i]);
        engine_bus.compare_in_intervals(clock);
        engine_block_table.moved = engine_block_table.awake & instances;
        for (const int i : flashtrain::Each(engine_block_table.moved)) flashtrain::rising_edge(engine_block_table[i]);
        engine_block_table.compare_in_intervals(clock);
        engine_eraser.moved = engine_eraser.awake & instances;
        for (const int i : flashtrain::Each(engine_eraser.moved)) flashtrain::rising_edge(engine_eraser[i]);
        engine_eraser.compare_in_intervals(clock);
        engine_agent_0_reader_sets_gathering.moved = engine_agent_0_reader_sets_gathering.awake & instances;
        for (const int i : flashtrain::Each(engine_agent_0_reader_sets_gathering.moved)) flashtrain::rising_edge(engine_agent_0_reader_sets_gathering[i]);
        engine_agent_0_reader_sets_gathering.compare_after_edge();
        engine_agent_0_reader_timer.moved = engine_agent_0_reader_timer.awake & instances;
        for (const int i : flashtrain::Each(engine_agent_0_reader_timer.moved)) {
            flashtrain::rising_edge(engine_agent_0_reader_timer[i]);
            engine_agent_0_reader_timer.set_awake(i, engine_agent_0_reader_timer[i].port___05Frunning);
        }
        engine_agent_0_poller_array_timer.moved = engine_agent_0_poller_array_timer.awake & instances;
        for (const int i : flashtrain::Each(engine_agent_0_poller_array_timer.moved)) {
            flashtrain::rising_edge(engine_agent_0_poller_array_timer[i]);
            engine_agent_0_poller_array_timer.set_awake(i, engine_agent_0_poller_array_timer[i].port___05Frunning);
        }
        engine_agent_0_poller_short_timer.moved = engine_agent_0_poller_short_timer.awake & instances;
        for (const int i : flashtrain::Each(engine_agent_0_poller_short_timer.moved)) {
            flashtrain::rising_edge(engine_agent_0_poller_short_timer[i]);
            engine_agent_0_poller_short_timer.set_awake(i, engine_agent_0_poller_short_timer[i].port___05Frunning);
        }
        engine_agent_0_mux_gap.moved = engine_agent_0_mux_gap.awake & instances;
        for (const int i : flashtrain::Each(engine_agent_0_mux_gap.moved)) flashtrain::rising_edge(engine_agent_0_mux_gap[i]);
        engine_agent_0_mux_gap.compare_after_edge();
        engine_agent_0.moved = engine_agent_0.awake & instances;
        for (const int i : flashtrain::Each(engine_agent_0.moved)) flashtrain::rising_edge(engine_agent_0[i]);
        engine_agent_0.compare_after_edge();
        engine_counters_events.moved = engine_counters_events.awake & instances;
        for (const int i : flashtrain::Each(engine_counters_events.moved)) flashtrain::rising_edge(engine_counters_events[i]);
        engine_counters_events.compare_after_edge();
        engine_counters.moved = engine_counters.awake & instances;
        for (const int i : flashtrain::Each(engine_counters.moved)) flashtrain::rising_edge(engine_counters[i]);
        engine.moved = engine.awake & instances;
        for (const int i : flashtrain::Each(engine.moved)) flashtrain::rising_edge(engine[i]);
        engine.compare_in_intervals(clock);
        checker.moved = checker.awake & instances;
        for (const int i : flashtrain::Each(checker.moved)) flashtrain::rising_edge(checker[i]);
        checker.compare_in_intervals(clock);
        for (const int i : flashtrain::Each(engine_write_buffer_sets.moved)) carry_from_engine_write_buffer_sets(i);
        for (const int i : flashtrain::Each(engine_write_buffer_results.moved)) carry_from_engine_write_buffer_results(i);
        for (const int i : flashtrain::Each(engine_write_buffer_identities.moved)) carry_from_engine_write_buffer_identities(i);
        for (const int i : flashtrain::Each(engine_write_buffer_serializer.moved)) carry_from_engine_write_buffer_serializer(i);
        for (const int i : flashtrain::Each(engine_read_lookup.moved)) carry_from_engine_read_lookup(i);
        for (const int i : flashtrain::Each(engine_read_buffer_page_memory.moved)) carry_from_engine_read_buffer_page_memory(i);
        for (const int i : flashtrain::Each(engine_read_buffer_free.moved)) carry_from_engine_read_buffer_free(i);
        for (const int i : flashtrain::Each(engine_read_buffer_sender.moved)) carry_from_engine_read_buffer_sender(i);
        for (const int i : flashtrain::Each(engine_read_buffer.moved)) carry_from_engine_read_buffer(i);
        for (const int i : flashtrain::Each(engine_bus_arbiter.moved)) carry_from_engine_bus_arbiter(i);
        for (const int i : flashtrain::Each(engine_bus_turnaround.moved)) carry_from_engine_bus_turnaround(i);
        for (const int i : flashtrain::Each(engine_bus_sequencer.moved)) carry_from_engine_bus_sequencer(i);
        for (const int i : flashtrain::Each(engine_bus_operation.moved)) carry_from_engine_bus_operation(i);
        for (const int i : flashtrain::Each(engine_bus_pins.moved)) carry_from_engine_bus_pins(i);
        for (const int i : flashtrain::Each(engine_bus.moved)) carry_from_engine_bus(i);
        for (const int i : flashtrain::Each(engine_block_table.moved)) carry_from_engine_block_table(i);
        for (const int i : flashtrain::Each(engine_eraser.moved)) carry_from_engine_eraser(i);
        for (const int i : flashtrain::Each(engine_agent_0_reader_sets_gathering.moved)) carry_from_engine_agent_0_reader_sets_gathering(i);
        for (const int i : flashtrain::Each(engine_agent_0_reader_timer.moved)) carry_from_engine_agent_0_reader_timer(i);
        for (const int i : flashtrain::Each(engine_agent_0_poller_array_timer.moved)) carry_from_engine_agent_0_poller_array_timer(i);
        for (const int i : flashtrain::Each(engine_agent_0_poller_short_timer.moved)) carry_from_engine_agent_0_poller_short_timer(i);
        for (const int i : flashtrain::Each(engine_agent_0_mux_gap.moved)) carry_from_engine_agent_0_mux_gap(i);
        for (const int i : flashtrain::Each(engine_agent_0.moved)) carry_from_engine_agent_0(i);
        for (const int i : flashtrain::Each(engine_counters_events.moved)) carry_from_engine_counters_events(i);
        for (const int i : flashtrain::Each(engine_counters.moved)) carry_from_engine_counters(i);
        for (const int i : flashtrain::Each(engine.moved)) carry_from_engine(i);
        for (const int i : flashtrain::Each(checker.moved)) carry_from_checker(i);
    }
    template <typename Action>
    void for_each_model(Action action) {
        rest.for_each_model(action);
        rest.wake_all(false);
        engine_write_buffer_sets.for_each_model(action);
        engine_write_buffer_sets.wake_all(true);
        engine_write_buffer_results.for_each_model(action);
        engine_write_buffer_results.wake_all(true);
        engine_write_buffer_identities.for_each_model(action);
        engine_write_buffer_identities.wake_all(true);
        engine_write_buffer_serializer.for_each_model(action);
        engine_write_buffer_serializer.wake_all(true);
        engine_read_lookup.for_each_model(action);
        engine_read_lookup.wake_all(true);
        engine_read_buffer_page_memory.for_each_model(action);
        engine_read_buffer_page_memory.wake_all(true);
        engine_read_buffer_free.for_each_model(action);
        engine_read_buffer_free.wake_all(true);
        engine_read_buffer_sender.for_each_model(action);
        engine_read_buffer_sender.wake_all(true);
        engine_read_buffer.for_each_model(action);
        engine_read_buffer.wake_all(true);
        engine_bus_arbiter.for_each_model(action);
        engine_bus_arbiter.wake_all(true);
        engine_bus_turnaround.for_each_model(action);
        engine_bus_turnaround.wake_all(true);
        engine_bus_sequencer.for_each_model(action);
        engine_bus_sequencer.wake_all(true);
        engine_bus_operation.for_each_model(action);
        engine_bus_operation.wake_all(true);
        engine_bus_pins.for_each_model(action);
        engine_bus_pins.wake_all(true);
        engine_bus.for_each_model(action);
        engine_bus.wake_all(true);
        engine_block_table.for_each_model(action);
        engine_block_table.wake_all(true);
        engine_eraser.for_each_model(action);
        engine_eraser.wake_all(true);
        engine_agent_0_reader_sets_gathering.for_each_model(action);
        engine_agent_0_reader_sets_gathering.wake_all(true);
        engine_agent_0_reader_timer.for_each_model(action);
        engine_agent_0_reader_timer.wake_all(true);
        engine_agent_0_poller_array_timer.for_each_model(action);
        engine_agent_0_poller_array_timer.wake_all(true);
        engine_agent_0_poller_short_timer.for_each_model(action);
        engine_agent_0_poller_short_timer.wake_all(true);
        engine_agent_0_mux_gap.for_each_model(action);
        engine_agent_0_mux_gap.wake_all(true);
        engine_agent_0.for_each_model(action);
        engine_agent_0.wake_all(true);
        engine_counters_events.for_each_model(action);
        engine_counters_events.wake_all(true);
        engine_counters.for_each_model(action);
        engine_counters.wake_all(true);
        engine.for_each_model(action);
        engine.wake_all(true);
        checker.for_each_model(action);
        checker.wake_all(true);
        changed_ = rest.moved;
        pins_ = rest.moved;
    }
    template <typename Value>
    void pages__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_write_buffer_sets.mark_input_changed(i, flashtrain::carry(engine_write_buffer_sets[i].pages___05Fpayload, value));
        engine_write_buffer_identities.wake_if_changed(i, flashtrain::carry(engine_write_buffer_identities[i].page, value));
        engine.mark_input_changed(i, flashtrain::carry(engine[i].port42___05Fpages___05Fpayload, value));
    }
    template <typename Value>
    void pages__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_write_buffer_sets.mark_input_changed(i, flashtrain::carry(engine_write_buffer_sets[i].pages___05Fvalid, value));
    }
    template <typename Value>
    void programmed__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_write_buffer_results.mark_input_changed(i, flashtrain::carry(engine_write_buffer_results[i].programmed___05Fready, value));
    }
    template <typename Value>
    void reads__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_read_lookup.wake_if_changed(i, flashtrain::carry(engine_read_lookup[i].pages___05Fpayload, value));
    }
    template <typename Value>
    void reads__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_read_lookup.wake_if_changed(i, flashtrain::carry(engine_read_lookup[i].pages___05Fvalid, value));
    }
    template <typename Value>
    void read_head__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_read_buffer_sender.mark_input_changed(i, flashtrain::carry(engine_read_buffer_sender[i].read_head___05Fready, value));
    }
    template <typename Value>
    void read_ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_read_buffer_sender.mark_input_changed(i, flashtrain::carry(engine_read_buffer_sender[i].read_data___05Fready, value));
    }
    template <typename Value>
    void read_chosen([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
    }
    template <typename Value>
    void erase__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_eraser.wake_if_changed(i, flashtrain::carry(engine_eraser[i].request___05Fpayload, value));
        engine.mark_input_changed(i, flashtrain::carry(engine[i].front_end___05Ferase___05Fpayload, value));
    }
    template <typename Value>
    void erase__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine.mark_input_changed(i, flashtrain::carry(engine[i].front_end___05Ferase___05Fvalid, value));
    }
    template <typename Value>
    void erased__ready([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_eraser.wake_if_changed(i, flashtrain::carry(engine_eraser[i].done___05Fready, value));
    }
    template <typename Value>
    void raw([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_read_buffer.wake_if_changed(i, flashtrain::carry(engine_read_buffer[i].raw, value));
    }
    template <typename Value>
    void flush__payload([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_write_buffer_sets.wake_if_changed(i, flashtrain::carry(engine_write_buffer_sets[i].flush___05Fpayload, value));
    }
    template <typename Value>
    void flush__valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_write_buffer_sets.mark_input_changed(i, flashtrain::carry(engine_write_buffer_sets[i].flush___05Fvalid, value));
    }
    template <typename Value>
    void data([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine.wake_if_changed(i, flashtrain::carry(engine[i].port28___05Fdata, value));
    }
    template <typename Value>
    void counter_select([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_counters.wake_if_changed(i, flashtrain::carry(engine_counters[i].select, value));
    }
    template <typename Value>
    void counter_sample([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_counters.wake_if_changed(i, flashtrain::carry(engine_counters[i].sample, value));
    }
    template <typename Value>
    void data_valid([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine.mark_input_changed(i, flashtrain::carry(engine[i].port29___05Fdata_valid, value));
    }
    template <typename Value>
    void channel_reset([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_write_buffer_sets.wake_if_changed(i, flashtrain::carry(engine_write_buffer_sets[i].rst, value));
        engine_write_buffer_results.wake_if_changed(i, flashtrain::carry(engine_write_buffer_results[i].rst, value));
        engine_write_buffer_identities.wake_if_changed(i, flashtrain::carry(engine_write_buffer_identities[i].rst, value));
        engine_write_buffer_serializer.wake_if_changed(i, flashtrain::carry(engine_write_buffer_serializer[i].rst, value));
        engine_read_lookup.wake_if_changed(i, flashtrain::carry(engine_read_lookup[i].rst, value));
        engine_read_buffer_page_memory.wake_if_changed(i, flashtrain::carry(engine_read_buffer_page_memory[i].rst, value));
        engine_read_buffer_free.wake_if_changed(i, flashtrain::carry(engine_read_buffer_free[i].rst, value));
        engine_read_buffer_sender.wake_if_changed(i, flashtrain::carry(engine_read_buffer_sender[i].rst, value));
        engine_read_buffer.wake_if_changed(i, flashtrain::carry(engine_read_buffer[i].rst, value));
        engine_bus_arbiter.wake_if_changed(i, flashtrain::carry(engine_bus_arbiter[i].rst, value));
        engine_bus_turnaround.wake_if_changed(i, flashtrain::carry(engine_bus_turnaround[i].rst, value));
        engine_bus_sequencer.wake_if_changed(i, flashtrain::carry(engine_bus_sequencer[i].rst, value));
        engine_bus_operation.wake_if_changed(i, flashtrain::carry(engine_bus_operation[i].rst, value));
        engine_bus_pins.wake_if_changed(i, flashtrain::carry(engine_bus_pins[i].rst, value));
        engine_bus.wake_if_changed(i, flashtrain::carry(engine_bus[i].rst, value));
        engine_block_table.wake_if_changed(i, flashtrain::carry(engine_block_table[i].rst, value));
        engine_eraser.wake_if_changed(i, flashtrain::carry(engine_eraser[i].rst, value));
        engine_agent_0_reader_sets_gathering.wake_if_changed(i, flashtrain::carry(engine_agent_0_reader_sets_gathering[i].rst, value));
        engine_agent_0_reader_timer.wake_if_changed(i, flashtrain::carry(engine_agent_0_reader_timer[i].rst, value));
        engine_agent_0_poller_array_timer.wake_if_changed(i, flashtrain::carry(engine_agent_0_poller_array_timer[i].rst, value));
        engine_agent_0_poller_short_timer.wake_if_changed(i, flashtrain::carry(engine_agent_0_poller_short_timer[i].rst, value));
        engine_agent_0_mux_gap.wake_if_changed(i, flashtrain::carry(engine_agent_0_mux_gap[i].rst, value));
        engine_agent_0.wake_if_changed(i, flashtrain::carry(engine_agent_0[i].rst, value));
        engine_counters_events.wake_if_changed(i, flashtrain::carry(engine_counters_events[i].rst, value));
        engine_counters.wake_if_changed(i, flashtrain::carry(engine_counters[i].rst, value));
        engine.wake_if_changed(i, flashtrain::carry(engine[i].rst, value));
    }
    template <typename Value>
    void channel([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        checker.wake_if_changed(i, flashtrain::carry(checker[i].channel, value));
    }
    template <typename Value>
    void cycle([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        checker[i].cycle = value;
    }
    template <typename Value>
    void nand__dqs_i([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_bus.wake_if_changed(i, flashtrain::carry(engine_bus[i].nand___05Fdqs_i, value));
        checker.wake_if_changed(i, flashtrain::carry(checker[i].dqs_i, value));
    }
    template <typename Value>
    void nand__dq_i([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        engine_bus.wake_if_changed(i, flashtrain::carry(engine_bus[i].nand___05Fdq_i, value));
        if (checker[i].hears) checker.wake_if_changed(i, flashtrain::carry(checker[i].dq_i, value));
    }
    template <typename Value>
    void nand__rb_n([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        checker.wake_if_changed(i, flashtrain::carry(checker[i].rb_n, value));
    }
    // Silent inputs have an effect now.
    void apply_silent_inputs([[maybe_unused]] int i) {
        checker.mark_input_changed(i, true);
    }
    const auto& pages__ready(int i = 0) const { return engine_write_buffer_sets[i].pages___05Fready; }
    const auto& nand__ale(int i = 0) const { return engine_bus_pins[i].nand___05Fale; }
    const auto& nand__ce_n(int i = 0) const { return engine_bus_pins[i].nand___05Fce_n; }
    const auto& nand__cle(int i = 0) const { return engine_bus_pins[i].nand___05Fcle; }
    const auto& nand__dq_o(int i = 0) const { return engine_bus_pins[i].nand___05Fdq_o; }
    const auto& nand__dqs_o(int i = 0) const { return engine_bus_pins[i].nand___05Fdqs_o; }
    const auto& nand__re(int i = 0) const { return engine_bus_pins[i].nand___05Fre; }
    const auto& nand__we(int i = 0) const { return engine_bus_pins[i].nand___05Fwe; }
    const auto& programmed__payload(int i = 0) const { return engine_write_buffer_results[i].port15___05Fsignal; }
    const auto& programmed__valid(int i = 0) const { return engine_write_buffer_results[i].programmed___05Fvalid; }
    const auto& reads__ready(int i = 0) const { return engine_read_lookup[i].pages___05Fready; }
    const auto& read_head__payload(int i = 0) const { return engine_read_buffer_sender[i].read_head___05Fpayload; }
    const auto& read_head__valid(int i = 0) const { return engine_read_buffer_sender[i].read_head___05Fvalid; }
    const auto& read_valid(int i = 0) const { return engine_read_buffer_sender[i].read_data___05Fvalid; }
    const auto& erase__ready(int i = 0) const { return engine[i].front_end___05Ferase___05Fready; }
    const auto& erased__payload(int i = 0) const { return engine_eraser[i].done___05Fpayload; }
    const auto& erased__valid(int i = 0) const { return engine_eraser[i].done___05Fvalid; }
    const auto& flush__ready(int i = 0) const { return engine_write_buffer_sets[i].flush___05Fready; }
    const auto& flushed(int i = 0) const { return engine_write_buffer_sets[i].flushed; }
    const auto& ready(int i = 0) const { return engine[i].front_end___05Fready; }
    const auto& idle(int i = 0) const { return engine[i].front_end___05Fidle; }
    const auto& counter_value(int i = 0) const { return engine_counters[i].value; }
    const auto& read_data(int i = 0) const { return engine_read_buffer_sender[i].port13___05Fsent; }
    const auto& violations(int i = 0) const { return checker[i].violations; }

  private:
    void carry_from_rest(int i) {
    }
    void carry_from_engine_write_buffer_sets(int i) {
        if (engine_write_buffer_sets.word_changed<0>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = engine_write_buffer_sets[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port19___05Fsignature___05Fen, from.pages___05Fready);
                mark_input_changed |= flashtrain::carry(to.port49___05Fslot, from.port18___05Fsignal);
                engine.mark_input_changed(i, mark_input_changed);
                engine.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_write_buffer_sets[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.sets___05Fvalid, from.sets___05F0___05Fvalid);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_write_buffer_sets[i];
                auto& to = engine_read_lookup[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.hit, from.hit);
                wake_if_changed |= flashtrain::carry(to.hit_slot, from.hit_slot);
                wake_if_changed |= flashtrain::carry(to.lookup___05Fready, from.lookup___05Fready);
                engine_read_lookup.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_write_buffer_sets[i];
                auto& to = engine_write_buffer_identities[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port1___05Fsignature___05Fen, from.pages___05Fready);
                wake_if_changed |= flashtrain::carry(to.port0___05Fsignature___05Faddr, from.port18___05Fsignal);
                engine_write_buffer_identities.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_write_buffer_sets[i];
                auto& to = engine_write_buffer_results[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port3___05Fsignature___05Fen, from.pages___05Fready);
                wake_if_changed |= flashtrain::carry(to.first, from.port16___05Fended_first);
                wake_if_changed |= flashtrain::carry(to.last, from.port17___05Fsignature___05Fdata);
                engine_write_buffer_results.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_write_buffer_sets.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = engine_write_buffer_sets[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port23___05Fbusy, from.busy);
                mark_input_changed |= flashtrain::carry(to.port30___05Fdiscard___05Fready, from.discard___05Fready);
                engine.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_write_buffer_sets.word_changed<2>(i)) {
            {
                const auto& from = engine_write_buffer_sets[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.sets___05Fpayload, from.sets___05F0___05Fpayload);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_write_buffer_results(int i) {
        if (engine_write_buffer_results.word_changed<0>(i)) {
            {
                const auto& from = engine_write_buffer_results[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.results___05Fready, from.results___05F0___05Fready);
                mark_input_changed |= flashtrain::carry(to.port36___05Fupdated___05Fready, from.updated___05F0___05Fready);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
                engine_agent_0.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_write_buffer_results[i];
                auto& to = engine_write_buffer_sets[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.port0___05Fsignature___05Faddr, from.slot);
                wake_if_changed |= flashtrain::carry(to.ended, from.ended);
                engine_write_buffer_sets.mark_input_changed(i, mark_input_changed);
                engine_write_buffer_sets.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_write_buffer_results.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = engine_write_buffer_results[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port24___05Fbusy, from.busy);
                engine.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_write_buffer_results.word_changed<2>(i)) {
            changed_ |= uint64_t{1} << i;
        }
    }
    void carry_from_engine_write_buffer_identities(int i) {
        if (engine_write_buffer_identities.word_changed<0>(i)) {
            {
                const auto& from = engine_write_buffer_identities[i];
                auto& to = engine_write_buffer_serializer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.plain, from.plain);
                engine_write_buffer_serializer.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_write_buffer_identities.word_changed<1>(i)) {
            {
                const auto& from = engine_write_buffer_identities[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port50___05Fsource, from.source);
                engine.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = engine_write_buffer_identities[i];
            auto& to = engine_write_buffer_serializer[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.identity, from.record);
            engine_write_buffer_serializer.wake_if_changed(i, wake_if_changed);
        }
    }
    void carry_from_engine_write_buffer_serializer(int i) {
        if (engine_write_buffer_serializer.word_changed<0>(i)) {
            {
                const auto& from = engine_write_buffer_serializer[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port18___05Fsignal, from.others_read);
                engine.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_write_buffer_serializer[i];
                auto& to = engine_bus[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.beats___05Fvalid, from.beats___05Fvalid);
                engine_bus.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_write_buffer_serializer[i];
                auto& to = engine_bus_operation[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.beats___05Fvalid, from.beats___05Fvalid);
                wake_if_changed |= flashtrain::carry(to.fetch___05Fready, from.pages___05Fready);
                engine_bus_operation.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_write_buffer_serializer[i];
                auto& to = engine_bus_pins[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.beats___05Fvalid, from.beats___05Fvalid);
                engine_bus_pins.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_write_buffer_serializer[i];
                auto& to = engine_write_buffer_identities[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.of, from.port0___05Fpage);
                engine_write_buffer_identities.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_write_buffer_serializer.word_changed<1>(i)) {
            {
                const auto& from = engine_write_buffer_serializer[i];
                auto& to = engine[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port44___05Fread, from.read);
                engine.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_write_buffer_serializer.word_changed<2>(i)) {
            {
                const auto& from = engine_write_buffer_serializer[i];
                auto& to = engine[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port20___05Faddress, from.address);
                engine.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_write_buffer_serializer[i];
                auto& to = engine_bus_pins[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.beats___05Fpayload, from.beats___05Fpayload);
                engine_bus_pins.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_read_lookup(int i) {
        if (engine_read_lookup.word_changed<0>(i)) {
            {
                const auto& from = engine_read_lookup[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port36___05Fhits___05Fvalid, from.hits___05Fvalid);
                engine.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_read_lookup[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port30___05Freads___05Fvalid, from.port12___05Fr_rdy);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_read_lookup[i];
                auto& to = engine_read_buffer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.hits___05Fvalid, from.hits___05Fvalid);
                engine_read_buffer.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_read_lookup[i];
                auto& to = engine_write_buffer_sets[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.lookup___05Fpayload, from.lookup___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.lookup___05Fvalid, from.lookup___05Fvalid);
                engine_write_buffer_sets.mark_input_changed(i, mark_input_changed);
                engine_write_buffer_sets.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_read_lookup.word_changed<1>(i)) {
            {
                const auto& from = engine_read_lookup[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port21___05Fbacklog, from.backlog);
                mark_input_changed |= flashtrain::carry(to.port22___05Fbusy, from.busy);
                engine.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_read_lookup.word_changed<2>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (engine_read_lookup.word_changed<3>(i)) {
            {
                const auto& from = engine_read_lookup[i];
                auto& to = engine_read_buffer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.hits___05Fpayload, from.hits___05Fpayload);
                engine_read_buffer.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_read_lookup.word_changed<4>(i)) {
            {
                const auto& from = engine_read_lookup[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port29___05Freads___05Fpayload, from.port11___05Fr_port___05Fdata);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_read_buffer_page_memory(int i) {
        if (engine_read_buffer_page_memory.word_changed<0>(i)) {
            {
                const auto& from = engine_read_buffer_page_memory[i];
                auto& to = engine_read_buffer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port7___05Fcopied, from.copied);
                mark_input_changed |= flashtrain::carry(to.port11___05Ffilled, from.port11___05Fidentified);
                engine_read_buffer.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_read_buffer_page_memory.word_changed<1>(i)) {
            {
                const auto& from = engine_read_buffer_page_memory[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port27___05Fcopy_room, from.copy_room);
                engine.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_read_buffer_page_memory.word_changed<2>(i)) {
            {
                const auto& from = engine_read_buffer_page_memory[i];
                auto& to = engine_read_buffer_sender[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.word, from.port9___05Fread___05Fdata);
                engine_read_buffer_sender.wake_if_changed(i, wake_if_changed);
            }
        }
        {
            const auto& from = engine_read_buffer_page_memory[i];
            auto& to = engine_read_buffer[i];
            bool wake_if_changed = false;
            if (from.port11___05Fidentified) wake_if_changed |= flashtrain::carry(to.port14___05Fidentity, from.port12___05Fidentity);
            engine_read_buffer.wake_if_changed(i, wake_if_changed);
        }
    }
    void carry_from_engine_read_buffer_free(int i) {
        if (engine_read_buffer_free.word_changed<0>(i)) {
            {
                const auto& from = engine_read_buffer_free[i];
                auto& to = engine_read_buffer[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port15___05Foutput___05Fpayload, from.output___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.port16___05Foutput___05Fvalid, from.output___05Fvalid);
                engine_read_buffer.mark_input_changed(i, mark_input_changed);
                engine_read_buffer.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_engine_read_buffer_sender(int i) {
        if (engine_read_buffer_sender.word_changed<0>(i)) {
            {
                const auto& from = engine_read_buffer_sender[i];
                auto& to = engine_read_buffer_free[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.port1___05Fw_en, from.port2___05Flast_word);
                wake_if_changed |= flashtrain::carry(to.port2___05Fw_port___05Fdata, from.port3___05Fsignal);
                engine_read_buffer_free.mark_input_changed(i, mark_input_changed);
                engine_read_buffer_free.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_read_buffer_sender[i];
                auto& to = engine_read_buffer_page_memory[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port6___05Fread___05Faddr, from.address);
                wake_if_changed |= flashtrain::carry(to.port7___05Fread___05Fen, from.read);
                engine_read_buffer_page_memory.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_read_buffer_sender.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = engine_read_buffer_sender[i];
                auto& to = engine_read_buffer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port17___05Fr_en, from.pages___05Fready);
                engine_read_buffer.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_read_buffer_sender.word_changed<2>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (engine_read_buffer_sender.word_changed<3>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        changed_ |= uint64_t{1} << i;
    }
    void carry_from_engine_read_buffer(int i) {
        if (engine_read_buffer.word_changed<0>(i)) {
            {
                const auto& from = engine_read_buffer[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.port35___05Fhits___05Fready, from.hits___05Fready);
                wake_if_changed |= flashtrain::carry(to.port25___05Fcopy___05Fpayload, from.copy___05Fpayload);
                engine.mark_input_changed(i, mark_input_changed);
                engine.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_read_buffer[i];
                auto& to = engine_bus_operation[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.fill___05Fready, from.port19___05Ffor_fill);
                engine_bus_operation.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_read_buffer[i];
                auto& to = engine_read_buffer_free[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.output___05Fready, from.port4___05Foutput___05Fready);
                engine_read_buffer_free.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_read_buffer[i];
                auto& to = engine_read_buffer_page_memory[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.copies, from.port1___05Fcopies);
                wake_if_changed |= flashtrain::carry(to.copy_number, from.port2___05Fcopy_number);
                wake_if_changed |= flashtrain::carry(to.fill_number, from.port3___05Ffill_number);
                engine_read_buffer_page_memory.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_read_buffer[i];
                auto& to = engine_read_buffer_sender[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.pages___05Fvalid, from.port6___05Fr_rdy);
                engine_read_buffer_sender.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_read_buffer[i];
                auto& to = engine_read_lookup[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.hits___05Fready, from.hits___05Fready);
                engine_read_lookup.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_read_buffer.word_changed<1>(i)) {
            {
                const auto& from = engine_read_buffer[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port26___05Fcopy___05Fvalid, from.port21___05Fsignal);
                engine.mark_input_changed(i, mark_input_changed);
            }
        }
        {
            const auto& from = engine_read_buffer[i];
            auto& to = engine_read_buffer_sender[i];
            bool mark_input_changed = false;
            if (to.pages___05Fvalid) mark_input_changed |= flashtrain::carry(to.pages___05Fpayload, from.port5___05Fr_port___05Fdata);
            engine_read_buffer_sender.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_engine_bus_arbiter(int i) {
        if (engine_bus_arbiter.word_changed<0>(i)) {
            {
                const auto& from = engine_bus_arbiter[i];
                auto& to = engine_bus_operation[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port16___05Fdie, from.port5___05Fdie);
                mark_input_changed |= flashtrain::carry(to.port21___05Fgrant, from.grant);
                engine_bus_operation.mark_input_changed(i, mark_input_changed);
                engine_bus_operation.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_arbiter[i];
                auto& to = engine_bus_pins[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Fgrant, from.grant);
                engine_bus_pins.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_bus_turnaround(int i) {
        if (engine_bus_turnaround.word_changed<0>(i)) {
            {
                const auto& from = engine_bus_turnaround[i];
                auto& to = engine_bus_arbiter[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.blocked, from.blocked);
                engine_bus_arbiter.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_bus_turnaround[i];
                auto& to = engine_bus_operation[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port15___05Fblocked, from.blocked);
                engine_bus_operation.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_turnaround[i];
                auto& to = engine_bus_pins[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port3___05Fblocked, from.blocked);
                engine_bus_pins.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_bus_sequencer(int i) {
        if (engine_bus_sequencer.word_changed<0>(i)) {
            {
                const auto& from = engine_bus_sequencer[i];
                auto& to = engine_bus[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port11___05Fnext_phase, from.next_phase);
                engine_bus.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_sequencer[i];
                auto& to = engine_bus_operation[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port25___05Fnext_step, from.next_step);
                engine_bus_operation.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_sequencer[i];
                auto& to = engine_bus_pins[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port0___05Faddress, from.address);
                mark_input_changed |= flashtrain::carry(to.port5___05Fbyte, from.byte);
                engine_bus_pins.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_bus_operation(int i) {
        if (engine_bus_operation.word_changed<0>(i)) {
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port39___05Forigin_of, from.fetch___05Fpayload);
                engine.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_bus_arbiter[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.granted, from.port5___05Fgranted);
                mark_input_changed |= flashtrain::carry(to.kinds___05F0, from.port6___05Fkinds___05F0);
                mark_input_changed |= flashtrain::carry(to.room, from.port7___05Froom);
                mark_input_changed |= flashtrain::carry(to.valid, from.port8___05Fvalid);
                engine_bus_arbiter.mark_input_changed(i, mark_input_changed);
                engine_bus_arbiter.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_bus_pins[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port10___05Fvalid, from.port8___05Fvalid);
                engine_bus_pins.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_read_buffer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.fill___05Fvalid, from.fill___05Fvalid);
                engine_read_buffer.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_write_buffer_serializer[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.beats___05Fready, from.beats___05Fready);
                wake_if_changed |= flashtrain::carry(to.pages___05Fpayload, from.fetch___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.pages___05Fvalid, from.fetch___05Fvalid);
                engine_write_buffer_serializer.mark_input_changed(i, mark_input_changed);
                engine_write_buffer_serializer.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_bus_operation.word_changed<1>(i)) {
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_bus[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port8___05Fdie, from.port9___05Fdie);
                mark_input_changed |= flashtrain::carry(to.port7___05Fbus_state, from.port30___05Fbus_state);
                mark_input_changed |= flashtrain::carry(to.port13___05Fpad, from.port32___05Fpad);
                wake_if_changed |= flashtrain::carry(to.port15___05Ftakes_named, from.port33___05Ftakes_named);
                engine_bus.mark_input_changed(i, mark_input_changed);
                engine_bus.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_bus_pins[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port6___05Fdie, from.port9___05Fdie);
                mark_input_changed |= flashtrain::carry(to.port4___05Fbus_state, from.port30___05Fbus_state);
                mark_input_changed |= flashtrain::carry(to.port9___05Foffline, from.port31___05Foffline);
                engine_bus_pins.mark_input_changed(i, mark_input_changed);
                engine_bus_pins.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_bus_sequencer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.op, from.port11___05Fop);
                mark_input_changed |= flashtrain::carry(to.step, from.port13___05Fstep);
                engine_bus_sequencer.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_bus_turnaround[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port1___05Fdie, from.port9___05Fdie);
                wake_if_changed |= flashtrain::carry(to.sent, from.port10___05Fsent);
                engine_bus_turnaround.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_bus_operation.word_changed<2>(i)) {
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_agent_0[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port20___05Fbus___05Fready, from.requests___05F0___05Fready);
                engine_agent_0.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_block_table[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.lookup___05Fplace, from.lookup___05Fplace);
                engine_block_table.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_bus_operation.word_changed<3>(i)) {
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_agent_0[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port21___05Fbus_done, from.done___05F0);
                engine_agent_0.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_bus_operation.word_changed<4>(i)) {
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_bus_sequencer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.row, from.port12___05Frow);
                engine_bus_sequencer.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_bus_operation[i];
                auto& to = engine_read_buffer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.fill___05Fpayload, from.fill___05Fpayload);
                engine_read_buffer.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_engine_bus_pins(int i) {
        if (engine_bus_pins.word_changed<0>(i)) {
            pins_ |= uint64_t{1} << i;
            {
                const auto& from = engine_bus_pins[i];
                auto& to = checker[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.ale, from.nand___05Fale);
                wake_if_changed |= flashtrain::carry(to.ce_n, from.nand___05Fce_n);
                wake_if_changed |= flashtrain::carry(to.cle, from.nand___05Fcle);
                checker.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus_pins[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.activity, from.activity);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_bus_pins.word_changed<1>(i)) {
            pins_ |= uint64_t{1} << i;
            {
                const auto& from = engine_bus_pins[i];
                auto& to = checker[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.dqs_o, from.nand___05Fdqs_o);
                wake_if_changed |= flashtrain::carry(to.re, from.nand___05Fre);
                checker.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_bus_pins.word_changed<2>(i)) {
            pins_ |= uint64_t{1} << i;
            {
                const auto& from = engine_bus_pins[i];
                auto& to = checker[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.we, from.nand___05Fwe);
                checker.wake_if_changed(i, wake_if_changed);
            }
        }
        pins_ |= uint64_t{1} << i;
        {
            const auto& from = engine_bus_pins[i];
            auto& to = checker[i];
            bool wake_if_changed = false;
            if (to.we | to.dqs_o) wake_if_changed |= flashtrain::carry(to.dq_o, from.nand___05Fdq_o);
            checker.wake_if_changed(i, wake_if_changed);
        }
    }
    void carry_from_engine_bus(int i) {
        if (engine_bus.word_changed<0>(i)) {
            {
                const auto& from = engine_bus[i];
                auto& to = engine_bus_operation[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port17___05Fdqs_i, from.port2___05Fdqs_i);
                mark_input_changed |= flashtrain::carry(to.port18___05Fended, from.port3___05Fended);
                mark_input_changed |= flashtrain::carry(to.port22___05Fincomplete, from.port4___05Fincomplete);
                engine_bus_operation.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_bus[i];
                auto& to = engine_bus_pins[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port7___05Fended, from.port3___05Fended);
                engine_bus_pins.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_bus[i];
                auto& to = engine_read_buffer_page_memory[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Fvalid, from.fill_valid);
                engine_read_buffer_page_memory.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_bus.word_changed<1>(i)) {
            {
                const auto& from = engine_bus[i];
                auto& to = engine_agent_0[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.bus_status, from.status);
                engine_agent_0.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_bus[i];
                auto& to = engine_bus_operation[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port24___05Fnext_phase, from.port5___05Fnext_phase);
                engine_bus_operation.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_bus.word_changed<2>(i)) {
            {
                const auto& from = engine_bus[i];
                auto& to = engine_read_buffer_page_memory[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port0___05Fbeat, from.fill_data);
                engine_read_buffer_page_memory.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_engine_block_table(int i) {
        if (engine_block_table.word_changed<0>(i)) {
            {
                const auto& from = engine_block_table[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port45___05Fready, from.ready);
                engine.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_block_table[i];
                auto& to = engine_bus_operation[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.lookup___05Fblock, from.lookup___05Fblock);
                engine_bus_operation.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_eraser(int i) {
        if (engine_eraser.word_changed<0>(i)) {
            {
                const auto& from = engine_eraser[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port47___05Frequest___05Fready, from.request___05Fready);
                engine.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_eraser[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port23___05Ferase___05Fpayload, from.erase___05F0___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.port24___05Ferase___05Fvalid, from.erase___05F0___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.port25___05Ferased___05Fready, from.erased___05F0___05Fready);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_eraser.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
        }
    }
    void carry_from_engine_agent_0_reader_sets_gathering(int i) {
        if (engine_agent_0_reader_sets_gathering.word_changed<0>(i)) {
            {
                const auto& from = engine_agent_0_reader_sets_gathering[i];
                auto& to = engine_agent_0[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port32___05Frunning, from.running);
                engine_agent_0.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_engine_agent_0_reader_timer(int i) {
        if (engine_agent_0_reader_timer.word_changed<0>(i)) {
            {
                const auto& from = engine_agent_0_reader_timer[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port26___05Fport___05Frunning, from.port___05Frunning);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_agent_0_poller_array_timer(int i) {
        if (engine_agent_0_poller_array_timer.word_changed<0>(i)) {
            {
                const auto& from = engine_agent_0_poller_array_timer[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port27___05Fport___05Frunning, from.port___05Frunning);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_agent_0_poller_short_timer(int i) {
        if (engine_agent_0_poller_short_timer.word_changed<0>(i)) {
            {
                const auto& from = engine_agent_0_poller_short_timer[i];
                auto& to = engine_agent_0[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port28___05Fport___05Frunning, from.port___05Frunning);
                engine_agent_0.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_agent_0_mux_gap(int i) {
        if (engine_agent_0_mux_gap.word_changed<0>(i)) {
            {
                const auto& from = engine_agent_0_mux_gap[i];
                auto& to = engine_agent_0[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port33___05Frunning, from.running);
                engine_agent_0.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_engine_agent_0(int i) {
        if (engine_agent_0.word_changed<0>(i)) {
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_bus_operation[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.requests___05F0___05Fvalid, from.port7___05Fbus___05Fvalid);
                engine_bus_operation.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_eraser[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.erase___05F0___05Fready, from.port8___05Ferase___05Fready);
                engine_eraser.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_read_lookup[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Fr_en, from.port5___05Freads___05Fready);
                engine_read_lookup.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_write_buffer_results[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.results___05F0___05Fpayload, from.results___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.results___05F0___05Fvalid, from.results___05Fvalid);
                wake_if_changed |= flashtrain::carry(to.updated___05F0___05Fpayload, from.port3___05Fupdated___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.updated___05F0___05Fvalid, from.port4___05Fupdated___05Fvalid);
                engine_write_buffer_results.mark_input_changed(i, mark_input_changed);
                engine_write_buffer_results.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_write_buffer_sets[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.sets___05F0___05Fready, from.sets___05Fready);
                engine_write_buffer_sets.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine_agent_0.word_changed<1>(i)) {
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port31___05Fended, from.port37___05Fended);
                engine.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_agent_0_mux_gap[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.held, from.port18___05Fheld);
                engine_agent_0_mux_gap.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_agent_0_poller_array_timer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fstart, from.port15___05Fport___05Fstart);
                engine_agent_0_poller_array_timer.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_agent_0_poller_short_timer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fstart, from.port17___05Fport___05Fstart);
                engine_agent_0_poller_short_timer.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_agent_0_reader_sets_gathering[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.held, from.port11___05Faccepted);
                engine_agent_0_reader_sets_gathering.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_agent_0_reader_timer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fstart, from.port13___05Fport___05Fstart);
                engine_agent_0_reader_timer.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_eraser[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.erased___05F0___05Fpayload, from.port9___05Ferased___05Fpayload);
                mark_input_changed |= flashtrain::carry(to.erased___05F0___05Fvalid, from.port10___05Ferased___05Fvalid);
                engine_eraser.mark_input_changed(i, mark_input_changed);
                engine_eraser.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_agent_0.word_changed<2>(i)) {
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port32___05Ffailure, from.failure);
                mark_input_changed |= flashtrain::carry(to.port37___05Fidle, from.idle);
                wake_if_changed |= flashtrain::carry(to.port38___05Flost, from.lost);
                wake_if_changed |= flashtrain::carry(to.port40___05Fpage_output, from.page_output);
                wake_if_changed |= flashtrain::carry(to.port41___05Fpage_programmed, from.page_programmed);
                wake_if_changed |= flashtrain::carry(to.port43___05Fprogrammed, from.programmed);
                mark_input_changed |= flashtrain::carry(to.port46___05Fready, from.port44___05Fready);
                wake_if_changed |= flashtrain::carry(to.port48___05Fsensed, from.sensed);
                engine.mark_input_changed(i, mark_input_changed);
                engine.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_agent_0.word_changed<3>(i)) {
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_agent_0_poller_array_timer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fcycles, from.port14___05Fport___05Fcycles);
                engine_agent_0_poller_array_timer.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_agent_0_reader_timer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fcycles, from.port12___05Fport___05Fcycles);
                engine_agent_0_reader_timer.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_agent_0.word_changed<4>(i)) {
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_agent_0_poller_short_timer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fcycles, from.port16___05Fport___05Fcycles);
                engine_agent_0_poller_short_timer.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_agent_0.word_changed<5>(i)) {
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_bus[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.requests___05F0___05Fpayload, from.port6___05Fbus___05Fpayload);
                engine_bus.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine_agent_0[i];
                auto& to = engine_bus_operation[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.requests___05F0___05Fpayload, from.port6___05Fbus___05Fpayload);
                engine_bus_operation.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    void carry_from_engine_counters_events(int i) {
        if (engine_counters_events.word_changed<0>(i)) {
            {
                const auto& from = engine_counters_events[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port1___05Fbuffer_hits, from.buffer_hits);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_counters_events.word_changed<1>(i)) {
            {
                const auto& from = engine_counters_events[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port2___05Fdies_offline, from.dies_offline);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_counters_events.word_changed<2>(i)) {
            {
                const auto& from = engine_counters_events[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port3___05Ferases, from.erases);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_counters_events.word_changed<3>(i)) {
            {
                const auto& from = engine_counters_events[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port4___05Ffailures, from.failures);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_counters_events.word_changed<4>(i)) {
            {
                const auto& from = engine_counters_events[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port5___05Fpages_programmed, from.pages_programmed);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_counters_events.word_changed<5>(i)) {
            {
                const auto& from = engine_counters_events[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port6___05Fpages_sensed, from.pages_sensed);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_counters_events.word_changed<6>(i)) {
            {
                const auto& from = engine_counters_events[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port7___05Fprograms, from.programs);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine_counters_events.word_changed<7>(i)) {
            {
                const auto& from = engine_counters_events[i];
                auto& to = engine_counters[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port10___05Fsenses, from.senses);
                engine_counters.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_engine_counters(int i) {
    }
    void carry_from_engine(int i) {
        if (engine.word_changed<0>(i)) {
            {
                const auto& from = engine[i];
                auto& to = engine_write_buffer_results[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port2___05Fsignature___05Fdata, from.port6___05Fnote);
                wake_if_changed |= flashtrain::carry(to.allocated_page, from.port7___05Fplace);
                engine_write_buffer_results.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_write_buffer_sets[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.arrived, from.port0___05Farrived);
                wake_if_changed |= flashtrain::carry(to.port2___05Farrived_plane, from.port1___05Farrived_plane);
                wake_if_changed |= flashtrain::carry(to.port3___05Farrived_slot, from.port2___05Farrived_slot);
                wake_if_changed |= flashtrain::carry(to.discard___05Fpayload, from.port3___05Fdiscard___05Fpayload);
                wake_if_changed |= flashtrain::carry(to.discard___05Fvalid, from.port4___05Fdiscard___05Fvalid);
                wake_if_changed |= flashtrain::carry(to.unpin, from.port5___05Funpin);
                engine_write_buffer_sets.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = engine[i];
                auto& to = engine_agent_0[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.backlog, from.port16___05Fbacklog);
                engine_agent_0.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_bus[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.offline, from.port13___05Foffline);
                engine_bus.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_bus_operation[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.offline, from.port13___05Foffline);
                engine_bus_operation.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_counters_events[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.events, from.port17___05Fevents);
                engine_counters_events.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_eraser[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.request___05Fvalid, from.port15___05Frequest___05Fvalid);
                engine_eraser.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_read_buffer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.copy___05Fready, from.port12___05Fcopy___05Fready);
                engine_read_buffer.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_read_buffer_page_memory[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.copy_valid, from.port11___05Fcopy_valid);
                engine_read_buffer_page_memory.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_write_buffer_serializer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.others_request, from.port8___05Fothers_request);
                engine_write_buffer_serializer.mark_input_changed(i, mark_input_changed);
            }
        }
        if (engine.word_changed<2>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (engine.word_changed<3>(i)) {
            {
                const auto& from = engine[i];
                auto& to = engine_bus_operation[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.origin, from.port14___05Fread___05Fdata);
                engine_bus_operation.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_read_buffer_page_memory[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.copy_data, from.port10___05Ffetched);
                engine_read_buffer_page_memory.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = engine[i];
                auto& to = engine_write_buffer_serializer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.word, from.port10___05Ffetched);
                engine_write_buffer_serializer.wake_if_changed(i, wake_if_changed);
            }
        }
        if (engine.word_changed<4>(i)) {
            {
                const auto& from = engine[i];
                auto& to = engine_write_buffer_serializer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.source, from.port9___05Fsource);
                engine_write_buffer_serializer.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_checker(int i) {
    }
    uint64_t changed_ = 0;
    uint64_t pins_ = 0;
    flashtrain::Part<Vchannel_rest> rest;
    flashtrain::Part<Vchannel_pagesets> engine_write_buffer_sets;
    flashtrain::Part<Vchannel_programresults> engine_write_buffer_results;
    flashtrain::Part<Vchannel_setidentities> engine_write_buffer_identities;
    flashtrain::Part<Vchannel_pageserializer> engine_write_buffer_serializer;
    flashtrain::Part<Vchannel_readlookup> engine_read_lookup;
    flashtrain::Part<Vchannel_pagememory> engine_read_buffer_page_memory;
    flashtrain::Part<Vchannel_freepages> engine_read_buffer_free;
    flashtrain::Part<Vchannel_pagesender> engine_read_buffer_sender;
    flashtrain::Part<Vchannel_readbuffer> engine_read_buffer;
    flashtrain::Part<Vchannel_busarbiter> engine_bus_arbiter;
    flashtrain::Part<Vchannel_turnaround> engine_bus_turnaround;
    flashtrain::Part<Vchannel_cyclesequencer> engine_bus_sequencer;
    flashtrain::Part<Vchannel_buscontrolleroperation> engine_bus_operation;
    flashtrain::Part<Vchannel_buscontrollerpins> engine_bus_pins;
    flashtrain::Part<Vchannel_buscontroller> engine_bus;
    flashtrain::Part<Vchannel_blocktable> engine_block_table;
    flashtrain::Part<Vchannel_erasebroadcast> engine_eraser;
    flashtrain::Part<Vchannel_holdtimer> engine_agent_0_reader_sets_gathering;
    flashtrain::Part<Vchannel_timer> engine_agent_0_reader_timer;
    flashtrain::Part<Vchannel_timer_1> engine_agent_0_poller_array_timer;
    flashtrain::Part<Vchannel_timer_2> engine_agent_0_poller_short_timer;
    flashtrain::Part<Vchannel_holdtimer_1> engine_agent_0_mux_gap;
    flashtrain::Part<Vchannel_dieagent> engine_agent_0;
    flashtrain::Part<Vchannel_eventcounters> engine_counters_events;
    flashtrain::Part<Vchannel_channelcounters> engine_counters;
    flashtrain::Part<Vchannel_channelengine> engine;
    flashtrain::Part<Vchannel_pinchecker> checker;
};
class Die {
  public:
    Die(VerilatedContext& context, int count) : rest{context, count}, logic_control{context, count}, logic_sequencer_timer{context, count}, logic_sequencer{context, count}, logic_registers{context, count}, logic_updater{context, count}, logic{context, count}, logic_updater_unit{context, count} {}
    // All parts follow their inputs. Returns the instances with changed outputs.
    uint64_t settle() {
        while (rest.dirty | logic_control.dirty | logic_sequencer_timer.dirty | logic_sequencer.dirty | logic_registers.dirty | logic_updater.dirty | logic.dirty | logic_updater_unit.dirty) {
            for (const int i : flashtrain::Each(rest.wake_dirty())) {
                flashtrain::settle(rest[i]);
                carry_from_rest(i);
            }
            for (const int i : flashtrain::Each(logic_control.wake_dirty())) {
                flashtrain::settle(logic_control[i]);
                carry_from_logic_control(i);
            }
            logic_sequencer_timer.wake_dirty();
            for (const int i : flashtrain::Each(logic_sequencer.wake_dirty())) {
                flashtrain::settle(logic_sequencer[i]);
                carry_from_logic_sequencer(i);
            }
            for (const int i : flashtrain::Each(logic_registers.follow())) {
                flashtrain::settle(logic_registers[i]);
                logic_registers.set_awake(i, logic_registers[i].rst | logic_registers[i].edge_enable);
                carry_from_logic_registers(i);
            }
            for (const int i : flashtrain::Each(logic_updater.wake_dirty())) {
                flashtrain::settle(logic_updater[i]);
                carry_from_logic_updater(i);
            }
            for (const int i : flashtrain::Each(logic.wake_dirty())) {
                flashtrain::settle(logic[i]);
                carry_from_logic(i);
            }
            for (const int i : flashtrain::Each(logic_updater_unit.follow())) {
                logic_updater_unit.model(i).eval();
                carry_from_logic_updater_unit(i);
            }
        }
        return std::exchange(changed_, 0);
    }
    uint64_t changed_wake() { return std::exchange(wake_, 0); }
    // The instances in which the next edge may change something.
    uint64_t awake() const { return rest.awake | logic_control.awake | logic_sequencer_timer.awake | logic_sequencer.awake | logic_registers.awake | logic_updater.awake | logic.awake; }
    // The clock of these instances rises; settled before.
    void edge(uint64_t clock, uint64_t instances = ~uint64_t{0}) {
        rest.moved = rest.awake & instances;
        for (const int i : flashtrain::Each(rest.moved)) flashtrain::rising_edge(rest[i]);
        rest.compare_in_intervals(clock);
        logic_control.moved = logic_control.awake & instances;
        for (const int i : flashtrain::Each(logic_control.moved)) flashtrain::rising_edge(logic_control[i]);
        logic_control.compare_after_edge();
        logic_sequencer_timer.moved = logic_sequencer_timer.awake & instances;
        for (const int i : flashtrain::Each(logic_sequencer_timer.moved)) {
            flashtrain::rising_edge(logic_sequencer_timer[i]);
            logic_sequencer_timer.set_awake(i, logic_sequencer_timer[i].port___05Frunning);
        }
        logic_sequencer.moved = logic_sequencer.awake & instances;
        for (const int i : flashtrain::Each(logic_sequencer.moved)) flashtrain::rising_edge(logic_sequencer[i]);
        logic_sequencer.compare_after_edge();
        logic_registers.moved = logic_registers.awake & instances;
        for (const int i : flashtrain::Each(logic_registers.moved)) {
            flashtrain::rising_edge(logic_registers[i]);
            logic_registers.set_awake(i, logic_registers[i].rst | logic_registers[i].edge_enable);
        }
        logic_updater.moved = logic_updater.awake & instances;
        for (const int i : flashtrain::Each(logic_updater.moved)) flashtrain::rising_edge(logic_updater[i]);
        logic_updater.compare_in_intervals(clock);
        logic.moved = logic.awake & instances;
        for (const int i : flashtrain::Each(logic.moved)) flashtrain::rising_edge(logic[i]);
        logic.compare_in_intervals(clock);
        for (const int i : flashtrain::Each(rest.moved)) carry_from_rest(i);
        for (const int i : flashtrain::Each(logic_control.moved)) carry_from_logic_control(i);
        for (const int i : flashtrain::Each(logic_sequencer_timer.moved)) carry_from_logic_sequencer_timer(i);
        for (const int i : flashtrain::Each(logic_sequencer.moved)) carry_from_logic_sequencer(i);
        for (const int i : flashtrain::Each(logic_registers.moved)) carry_from_logic_registers(i);
        for (const int i : flashtrain::Each(logic_updater.moved)) carry_from_logic_updater(i);
        for (const int i : flashtrain::Each(logic.moved)) carry_from_logic(i);
    }
    template <typename Action>
    void for_each_model(Action action) {
        rest.for_each_model(action);
        rest.wake_all(true);
        logic_control.for_each_model(action);
        logic_control.wake_all(true);
        logic_sequencer_timer.for_each_model(action);
        logic_sequencer_timer.wake_all(true);
        logic_sequencer.for_each_model(action);
        logic_sequencer.wake_all(true);
        logic_registers.for_each_model(action);
        logic_registers.wake_all(true);
        logic_updater.for_each_model(action);
        logic_updater.wake_all(true);
        logic.for_each_model(action);
        logic.wake_all(true);
        logic_updater_unit.for_each_model(action);
        logic_updater_unit.wake_all(false);
        changed_ = rest.moved;
        wake_ = rest.moved;
    }
    template <typename Value>
    void pins__ce_n([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        logic_control.mark_input_changed(i, flashtrain::carry(logic_control[i].ce_n, value));
        logic.mark_input_changed(i, flashtrain::carry(logic[i].pins___05Fce_n, value));
    }
    template <typename Value>
    void pins__cle([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        logic_control.mark_input_changed(i, flashtrain::carry(logic_control[i].cle, value));
    }
    template <typename Value>
    void pins__ale([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        logic_control.mark_input_changed(i, flashtrain::carry(logic_control[i].ale, value));
    }
    template <typename Value>
    void pins__we([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        logic_control.mark_input_changed(i, flashtrain::carry(logic_control[i].we, value));
    }
    template <typename Value>
    void pins__dqs_o([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        logic.mark_input_changed(i, flashtrain::carry(logic[i].pins___05Fdqs_o, value));
    }
    template <typename Value>
    void pins__re([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        logic.mark_input_changed(i, flashtrain::carry(logic[i].pins___05Fre, value));
    }
    template <typename Value>
    void pins__dq_o([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        if (logic_control[i].we) logic_control.mark_input_changed(i, flashtrain::carry(logic_control[i].dq_o, value));
        logic.mark_input_changed(i, flashtrain::carry(logic[i].port16___05Fbyte_pair_in, value));
    }
    template <typename Value>
    void cycle([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest[i].cycle = value;
    }
    template <typename Value>
    void channel([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.wake_if_changed(i, flashtrain::carry(rest[i].channel, value));
    }
    template <typename Value>
    void die([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {
        rest.wake_if_changed(i, flashtrain::carry(rest[i].die, value));
    }
    // Silent inputs have an effect now.
    void apply_silent_inputs([[maybe_unused]] int i) {
        rest.mark_input_changed(i, true);
    }
    const auto& pins__rb_n(int i = 0) const { return logic_sequencer[i].ready; }
    const auto& pins__dqs_i(int i = 0) const { return logic[i].pins___05Fdqs_i; }
    const auto& pins__dq_i(int i = 0) const { return logic[i].pins___05Fdq_i; }
    const auto& wake(int i = 0) const { return rest[i].wake; }
    const auto& violations(int i = 0) const { return rest[i].violations; }

  private:
    void carry_from_rest(int i) {
        if (rest.word_changed<0>(i)) {
            {
                const auto& from = rest[i];
                auto& to = logic_registers[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.words___05Fplane, from.port13___05Farray___05Fwords___05Fplane);
                logic_registers.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = rest[i];
                auto& to = logic_sequencer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.array___05Fbusy, from.port10___05Farray___05Fbusy);
                mark_input_changed |= flashtrain::carry(to.array___05Ffailed, from.port11___05Farray___05Ffailed);
                mark_input_changed |= flashtrain::carry(to.array___05Fsensing, from.port12___05Farray___05Fsensing);
                logic_sequencer.mark_input_changed(i, mark_input_changed);
            }
        }
        if (rest.word_changed<1>(i)) {
            {
                const auto& from = rest[i];
                auto& to = logic_registers[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.words___05Fput, from.port14___05Farray___05Fwords___05Fput);
                mark_input_changed |= flashtrain::carry(to.words___05Ftake, from.port15___05Farray___05Fwords___05Ftake);
                logic_registers.mark_input_changed(i, mark_input_changed);
            }
        }
        if (rest.word_changed<2>(i)) {
            {
                const auto& from = rest[i];
                auto& to = logic_registers[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.words___05Fword, from.port17___05Farray___05Fwords___05Fword);
                logic_registers.mark_input_changed(i, mark_input_changed);
            }
        }
        if (rest.word_changed<4>(i)) {
            wake_ |= uint64_t{1} << i;
        }
        {
            const auto& from = rest[i];
            auto& to = logic_registers[i];
            if (to.words___05Fput) flashtrain::carry(to.words___05Fto_register, from.port16___05Farray___05Fwords___05Fto_register);
        }
    }
    void carry_from_logic_control(int i) {
        if (logic_control.word_changed<0>(i)) {
            {
                const auto& from = logic_control[i];
                auto& to = logic_registers[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.clear, from.clear);
                logic_registers.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_control[i];
                auto& to = logic_sequencer[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.address, from.port12___05Faddress);
                mark_input_changed |= flashtrain::carry(to.byte, from.byte);
                mark_input_changed |= flashtrain::carry(to.command, from.port14___05Fcommand);
                mark_input_changed |= flashtrain::carry(to.first, from.port15___05Ffirst);
                logic_sequencer.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_control[i];
                auto& to = logic_updater[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port15___05Fbegin, from.header_begin);
                wake_if_changed |= flashtrain::carry(to.port16___05Fbegin, from.statistics_begin);
                wake_if_changed |= flashtrain::carry(to.clear, from.clear_statistics);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_control.word_changed<1>(i)) {
            {
                const auto& from = logic_control[i];
                auto& to = logic[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port15___05Fanswer, from.answer);
                mark_input_changed |= flashtrain::carry(to.port19___05Ffetch, from.fetch);
                wake_if_changed |= flashtrain::carry(to.port22___05Fnew_plane, from.new_plane);
                wake_if_changed |= flashtrain::carry(to.port26___05Fseek, from.seek);
                wake_if_changed |= flashtrain::carry(to.port27___05Fseek_plane, from.seek_plane);
                mark_input_changed |= flashtrain::carry(to.port28___05Ftransfer, from.transfer);
                logic.mark_input_changed(i, mark_input_changed);
                logic.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = logic_control[i];
                auto& to = logic_updater[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port25___05Fload, from.load);
                wake_if_changed |= flashtrain::carry(to.port43___05Fupdate, from.update);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_control.word_changed<2>(i)) {
            {
                const auto& from = logic_control[i];
                auto& to = logic[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port18___05Fcolumn, from.column);
                logic.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = logic_control[i];
                auto& to = logic_registers[i];
                flashtrain::carry(to.column, from.column);
            }
        }
        if (logic_control.word_changed<3>(i)) {
            {
                const auto& from = logic_control[i];
                auto& to = logic_sequencer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.row, from.port16___05Frow);
                logic_sequencer.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_logic_sequencer_timer(int i) {
        if (logic_sequencer_timer.word_changed<0>(i)) {
            {
                const auto& from = logic_sequencer_timer[i];
                auto& to = logic_sequencer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port21___05Fport___05Frunning, from.port___05Frunning);
                logic_sequencer.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_logic_sequencer(int i) {
        if (logic_sequencer.word_changed<0>(i)) {
            {
                const auto& from = logic_sequencer[i];
                auto& to = logic_control[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.array_ready, from.array_ready);
                mark_input_changed |= flashtrain::carry(to.beside, from.port7___05Fdone);
                logic_control.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_sequencer[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.__SYM__abort, from.array___05Fabort);
                logic_updater.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_sequencer[i];
                auto& to = rest[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port0___05Farray___05Fabort, from.array___05Fabort);
                wake_if_changed |= flashtrain::carry(to.port1___05Farray___05Fblocks, from.array___05Fblocks);
                wake_if_changed |= flashtrain::carry(to.port2___05Farray___05Fop, from.array___05Fop);
                wake_if_changed |= flashtrain::carry(to.port3___05Farray___05Fpage, from.array___05Fpage);
                wake_if_changed |= flashtrain::carry(to.port4___05Farray___05Fplanes, from.array___05Fplanes);
                wake_if_changed |= flashtrain::carry(to.port5___05Farray___05Fstart, from.array___05Fstart);
                rest.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_sequencer.word_changed<1>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = logic_sequencer[i];
                auto& to = logic[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port20___05Fhanded_over, from.handed_over);
                logic.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_sequencer[i];
                auto& to = logic_control[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.failed, from.failed);
                mark_input_changed |= flashtrain::carry(to.failed_before, from.failed_before);
                mark_input_changed |= flashtrain::carry(to.ready, from.ready);
                mark_input_changed |= flashtrain::carry(to.port11___05Fwithin_update, from.within_update);
                logic_control.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_sequencer[i];
                auto& to = logic_registers[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.swap, from.swap);
                logic_registers.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_sequencer[i];
                auto& to = logic_sequencer_timer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fstart, from.port13___05Fport___05Fstart);
                logic_sequencer_timer.wake_if_changed(i, wake_if_changed);
            }
            {
                const auto& from = logic_sequencer[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port38___05Fstart, from.update);
                logic_updater.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic_sequencer.word_changed<2>(i)) {
            {
                const auto& from = logic_sequencer[i];
                auto& to = logic_sequencer_timer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port___05Fcycles, from.port12___05Fport___05Fcycles);
                logic_sequencer_timer.wake_if_changed(i, wake_if_changed);
            }
        }
    }
    void carry_from_logic_registers(int i) {
        if (logic_registers.word_changed<0>(i)) {
            {
                const auto& from = logic_registers[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port32___05Fpages___05Fread_ready, from.identities___05Fread_ready);
                wake_if_changed |= flashtrain::carry(to.port33___05Fpages___05Fready, from.identities___05Fready);
                mark_input_changed |= flashtrain::carry(to.port40___05Ftile___05Fread_ready, from.tile___05Fread_ready);
                wake_if_changed |= flashtrain::carry(to.port41___05Ftile___05Fwrite_ready, from.tile___05Fwrite_ready);
                logic_updater.mark_input_changed(i, mark_input_changed);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_registers.word_changed<2>(i)) {
            {
                const auto& from = logic_registers[i];
                auto& to = logic_updater[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port39___05Ftile___05Foperand, from.tile___05Foperand);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_registers.word_changed<3>(i)) {
            {
                const auto& from = logic_registers[i];
                auto& to = logic_updater[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port31___05Fpages___05Ffound, from.identities___05Ffound);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        {
            const auto& from = logic_registers[i];
            auto& to = logic[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.port29___05Fword_out, from.word_out);
            logic.wake_if_changed(i, wake_if_changed);
        }
        {
            const auto& from = logic_registers[i];
            auto& to = rest[i];
            bool wake_if_changed = false;
            wake_if_changed |= flashtrain::carry(to.port6___05Farray___05Fwords___05Ffrom_register, from.words___05Ffrom_register);
            rest.wake_if_changed(i, wake_if_changed);
        }
    }
    void carry_from_logic_updater(int i) {
        if (logic_updater.word_changed<0>(i)) {
            {
                const auto& from = logic_updater[i];
                auto& to = logic_registers[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.identities___05Flane, from.port3___05Fpages___05Flane);
                flashtrain::carry(to.identities___05Fplane, from.port4___05Fpages___05Fplane);
                mark_input_changed |= flashtrain::carry(to.identities___05Fread, from.port5___05Fpages___05Fread);
                mark_input_changed |= flashtrain::carry(to.identities___05Fwrite, from.port6___05Fpages___05Fwrite);
                mark_input_changed |= flashtrain::carry(to.tile___05Fread, from.port7___05Ftile___05Fread);
                flashtrain::carry(to.tile___05Fread_index, from.port8___05Ftile___05Fread_index);
                logic_registers.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_updater[i];
                auto& to = logic_sequencer[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.update_busy, from.busy);
                wake_if_changed |= flashtrain::carry(to.update_damaged, from.port1___05Fwrong);
                logic_sequencer.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_updater.word_changed<1>(i)) {
            {
                const auto& from = logic_updater[i];
                auto& to = logic_registers[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.tile___05Fwrite, from.port10___05Ftile___05Fwrite);
                mark_input_changed |= flashtrain::carry(to.tile___05Fwrite_index, from.port11___05Ftile___05Fwrite_index);
                logic_registers.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic_updater[i];
                auto& to = logic_updater_unit[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.code, from.port46___05Fcode);
                mark_input_changed |= flashtrain::carry(to.enable, from.port48___05Fenable);
                mark_input_changed |= flashtrain::carry(to.port14___05Fformat, from.port49___05Fgradient_format);
                mark_input_changed |= flashtrain::carry(to.port15___05Fformat, from.port50___05Fcopy_format);
                mark_input_changed |= flashtrain::carry(to.port17___05Findex, from.port52___05Findex);
                mark_input_changed |= flashtrain::carry(to.port18___05Frestart, from.port53___05Frestart);
                logic_updater_unit.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic_updater.word_changed<2>(i)) {
            {
                const auto& from = logic_updater[i];
                auto& to = logic_updater_unit[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.valid, from.port54___05Fvalid);
                mark_input_changed |= flashtrain::carry(to.clk, from.port58___05Fclock);
                logic_updater_unit.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic_updater.word_changed<3>(i)) {
            {
                const auto& from = logic_updater[i];
                auto& to = logic_updater_unit[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.rst, from.port59___05Fupdate_rst);
                logic_updater_unit.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic_updater.word_changed<4>(i)) {
            {
                const auto& from = logic_updater[i];
                auto& to = logic[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port17___05Fbyte_pair_out, from.port44___05Fbyte_pair);
                logic.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_updater.word_changed<6>(i)) {
            {
                const auto& from = logic_updater[i];
                auto& to = logic_updater_unit[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port16___05Fgradient, from.port51___05Fgradient);
                mark_input_changed |= flashtrain::carry(to.port20___05Fvalue, from.port55___05Fkept_w);
                logic_updater_unit.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic_updater.word_changed<7>(i)) {
            {
                const auto& from = logic_updater[i];
                auto& to = logic_updater_unit[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port21___05Fvalue, from.port56___05Fkept_m);
                mark_input_changed |= flashtrain::carry(to.port22___05Fvalue, from.port57___05Fkept_v);
                logic_updater_unit.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic_updater.word_changed<9>(i)) {
            {
                const auto& from = logic_updater[i];
                auto& to = logic[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port21___05Flane_out, from.port45___05Fread___05Fdata);
                logic.wake_if_changed(i, wake_if_changed);
            }
        }
        {
            const auto& from = logic_updater[i];
            auto& to = logic_registers[i];
            if (to.identities___05Fwrite) flashtrain::carry(to.identities___05Fcontent, from.port2___05Fpages___05Fcontent);
            if (to.tile___05Fwrite) flashtrain::carry(to.tile___05Fresult, from.port9___05Ftile___05Fresult);
        }
        {
            const auto& from = logic_updater[i];
            auto& to = logic_updater_unit[i];
            bool mark_input_changed = false;
            mark_input_changed |= flashtrain::carry(to.constants, from.port47___05Fconstants);
            logic_updater_unit.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_logic(int i) {
        if (logic.word_changed<0>(i)) {
            {
                const auto& from = logic[i];
                auto& to = logic_control[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port8___05Fnext, from.port0___05Fnext);
                logic_control.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic[i];
                auto& to = logic_registers[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.ask, from.port1___05Fask);
                mark_input_changed |= flashtrain::carry(to.beside, from.port2___05Fbeside);
                mark_input_changed |= flashtrain::carry(to.plane, from.port5___05Fplane);
                mark_input_changed |= flashtrain::carry(to.put, from.port6___05Fput);
                logic_registers.mark_input_changed(i, mark_input_changed);
            }
            {
                const auto& from = logic[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port13___05Fask, from.port7___05Fask);
                mark_input_changed |= flashtrain::carry(to.port14___05Fbeat, from.port8___05Fheader_beat);
                logic_updater.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic.word_changed<1>(i)) {
            {
                const auto& from = logic[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.lane, from.port10___05Flane);
                wake_if_changed |= flashtrain::carry(to.port30___05Fnext, from.port12___05Fstatistics_next);
                wake_if_changed |= flashtrain::carry(to.plane, from.port13___05Fplane);
                mark_input_changed |= flashtrain::carry(to.put, from.port14___05Fput);
                logic_updater.mark_input_changed(i, mark_input_changed);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic.word_changed<2>(i)) {
            changed_ |= uint64_t{1} << i;
        }
        if (logic.word_changed<3>(i)) {
            changed_ |= uint64_t{1} << i;
            {
                const auto& from = logic[i];
                auto& to = logic_updater[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port17___05Fbyte_pair, from.port9___05Fbyte_pair_in);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic.word_changed<5>(i)) {
            {
                const auto& from = logic[i];
                auto& to = logic_updater[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port23___05Flane_in, from.port11___05Flane_in);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        {
            const auto& from = logic[i];
            auto& to = logic_registers[i];
            bool mark_input_changed = false;
            if (to.put | to.ask) mark_input_changed |= flashtrain::carry(to.lane, from.port3___05Flane);
            if (to.put) flashtrain::carry(to.lane_in, from.port4___05Flane_in);
            logic_registers.mark_input_changed(i, mark_input_changed);
        }
    }
    void carry_from_logic_updater_unit(int i) {
        if (logic_updater_unit.word_changed<0>(i)) {
            {
                const auto& from = logic_updater_unit[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.port20___05Fdone, from.done);
                wake_if_changed |= flashtrain::carry(to.port36___05Fready, from.ready);
                logic_updater.mark_input_changed(i, mark_input_changed);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_updater_unit.word_changed<1>(i)) {
            {
                const auto& from = logic_updater_unit[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port42___05Funit_busy, from.busy);
                logic_updater.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic_updater_unit.word_changed<2>(i)) {
            {
                const auto& from = logic_updater_unit[i];
                auto& to = logic_updater[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port19___05Fcopy, from.port0___05Fchosen);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_updater_unit.word_changed<3>(i)) {
            {
                const auto& from = logic_updater_unit[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port21___05Finfinities, from.port2___05Finfinities);
                mark_input_changed |= flashtrain::carry(to.port24___05Flargest, from.port3___05Flargest);
                logic_updater.mark_input_changed(i, mark_input_changed);
            }
        }
        if (logic_updater_unit.word_changed<4>(i)) {
            {
                const auto& from = logic_updater_unit[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                bool wake_if_changed = false;
                mark_input_changed |= flashtrain::carry(to.port26___05Fnans, from.port4___05Fnans);
                wake_if_changed |= flashtrain::carry(to.port27___05Fnew_m, from.port5___05Fchosen);
                logic_updater.mark_input_changed(i, mark_input_changed);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_updater_unit.word_changed<5>(i)) {
            {
                const auto& from = logic_updater_unit[i];
                auto& to = logic_updater[i];
                bool wake_if_changed = false;
                wake_if_changed |= flashtrain::carry(to.port28___05Fnew_v, from.port6___05Fchosen);
                wake_if_changed |= flashtrain::carry(to.port29___05Fnew_w, from.port7___05Fchosen);
                logic_updater.wake_if_changed(i, wake_if_changed);
            }
        }
        if (logic_updater_unit.word_changed<6>(i)) {
            {
                const auto& from = logic_updater_unit[i];
                auto& to = logic_updater[i];
                bool mark_input_changed = false;
                mark_input_changed |= flashtrain::carry(to.port37___05Fsquare, from.port9___05Fsum);
                logic_updater.mark_input_changed(i, mark_input_changed);
            }
        }
    }
    uint64_t changed_ = 0;
    uint64_t wake_ = 0;
    flashtrain::Part<Vdie_rest> rest;
    flashtrain::Part<Vdie_commandcontrol> logic_control;
    flashtrain::Part<Vdie_timer> logic_sequencer_timer;
    flashtrain::Part<Vdie_sequencer> logic_sequencer;
    flashtrain::Part<Vdie_pageregisters> logic_registers;
    flashtrain::Part<Vdie_updater> logic_updater;
    flashtrain::Part<Vdie_die> logic;
    flashtrain::Part<Vdie_updateunit> logic_updater_unit;
};
constexpr int kChannels = 2;
constexpr int kDies = 1;
inline uint32_t sent_0(const FrontEnd& from) { return from.channels__0__pages__valid() << 0 | from.channels__0__reads__valid() << 1 | from.channels__0__erase__valid() << 2 | from.channels__0__flush__valid() << 3 | from.channels__0__programmed__ready() << 4 | from.channels__0__read_head__ready() << 5 | from.channels__0__read_ready() << 6 | from.channels__0__read_chosen() << 7 | from.channels__0__erased__ready() << 8 | from.channels__0__raw() << 9; }
inline void to_channel_0(const FrontEnd& from, Channel& to, int i) {
    to.pages__valid(from.channels__0__pages__valid(), i);
    to.reads__valid(from.channels__0__reads__valid(), i);
    to.erase__valid(from.channels__0__erase__valid(), i);
    to.flush__valid(from.channels__0__flush__valid(), i);
    if (from.channels__0__pages__valid()) to.pages__payload(from.channels__0__pages__payload(), i);
    to.programmed__ready(from.channels__0__programmed__ready(), i);
    if (from.channels__0__reads__valid()) to.reads__payload(from.channels__0__reads__payload(), i);
    to.read_head__ready(from.channels__0__read_head__ready(), i);
    to.read_ready(from.channels__0__read_ready(), i);
    to.read_chosen(from.channels__0__read_chosen(), i);
    if (from.channels__0__erase__valid()) to.erase__payload(from.channels__0__erase__payload(), i);
    to.erased__ready(from.channels__0__erased__ready(), i);
    to.raw(from.channels__0__raw(), i);
    if (from.channels__0__flush__valid()) to.flush__payload(from.channels__0__flush__payload(), i);
}
inline void from_channel_0(const Channel& from, int i, FrontEnd& to) {
    to.channels__0__pages__ready(from.pages__ready(i));
    to.channels__0__programmed__payload(from.programmed__payload(i));
    to.channels__0__programmed__valid(from.programmed__valid(i));
    to.channels__0__reads__ready(from.reads__ready(i));
    to.channels__0__read_head__payload(from.read_head__payload(i));
    to.channels__0__read_head__valid(from.read_head__valid(i));
    to.channels__0__read_valid(from.read_valid(i));
    to.channels__0__erase__ready(from.erase__ready(i));
    to.channels__0__erased__payload(from.erased__payload(i));
    to.channels__0__erased__valid(from.erased__valid(i));
    to.channels__0__flush__ready(from.flush__ready(i));
    to.channels__0__flushed(from.flushed(i));
    to.channels__0__ready(from.ready(i));
    to.channels__0__idle(from.idle(i));
    if (to.channels__0__read_chosen() && from.read_valid(i)) to.read_data(from.read_data(i));
}
inline void counter_0(const Channel& from, int i, FrontEnd& to) {
    to.channels__0__counter_value(from.counter_value(i));
}
inline uint32_t sent_1(const FrontEnd& from) { return from.channels__1__pages__valid() << 0 | from.channels__1__reads__valid() << 1 | from.channels__1__erase__valid() << 2 | from.channels__1__flush__valid() << 3 | from.channels__1__programmed__ready() << 4 | from.channels__1__read_head__ready() << 5 | from.channels__1__read_ready() << 6 | from.channels__1__read_chosen() << 7 | from.channels__1__erased__ready() << 8 | from.channels__1__raw() << 9; }
inline void to_channel_1(const FrontEnd& from, Channel& to, int i) {
    to.pages__valid(from.channels__1__pages__valid(), i);
    to.reads__valid(from.channels__1__reads__valid(), i);
    to.erase__valid(from.channels__1__erase__valid(), i);
    to.flush__valid(from.channels__1__flush__valid(), i);
    if (from.channels__1__pages__valid()) to.pages__payload(from.channels__1__pages__payload(), i);
    to.programmed__ready(from.channels__1__programmed__ready(), i);
    if (from.channels__1__reads__valid()) to.reads__payload(from.channels__1__reads__payload(), i);
    to.read_head__ready(from.channels__1__read_head__ready(), i);
    to.read_ready(from.channels__1__read_ready(), i);
    to.read_chosen(from.channels__1__read_chosen(), i);
    if (from.channels__1__erase__valid()) to.erase__payload(from.channels__1__erase__payload(), i);
    to.erased__ready(from.channels__1__erased__ready(), i);
    to.raw(from.channels__1__raw(), i);
    if (from.channels__1__flush__valid()) to.flush__payload(from.channels__1__flush__payload(), i);
}
inline void from_channel_1(const Channel& from, int i, FrontEnd& to) {
    to.channels__1__pages__ready(from.pages__ready(i));
    to.channels__1__programmed__payload(from.programmed__payload(i));
    to.channels__1__programmed__valid(from.programmed__valid(i));
    to.channels__1__reads__ready(from.reads__ready(i));
    to.channels__1__read_head__payload(from.read_head__payload(i));
    to.channels__1__read_head__valid(from.read_head__valid(i));
    to.channels__1__read_valid(from.read_valid(i));
    to.channels__1__erase__ready(from.erase__ready(i));
    to.channels__1__erased__payload(from.erased__payload(i));
    to.channels__1__erased__valid(from.erased__valid(i));
    to.channels__1__flush__ready(from.flush__ready(i));
    to.channels__1__flushed(from.flushed(i));
    to.channels__1__ready(from.ready(i));
    to.channels__1__idle(from.idle(i));
    if (to.channels__1__read_chosen() && from.read_valid(i)) to.read_data(from.read_data(i));
}
inline void counter_1(const Channel& from, int i, FrontEnd& to) {
    to.channels__1__counter_value(from.counter_value(i));
}
constexpr int kDataValid = 10;  // a bit behind those of `sent`
constexpr uint32_t kValid = 1039;
constexpr decltype(&sent_0) sent[] = {sent_0, sent_1};
constexpr decltype(&to_channel_0) to_channel[] = {to_channel_0, to_channel_1};
constexpr decltype(&from_channel_0) from_channel[] = {from_channel_0, from_channel_1};
constexpr decltype(&counter_0) counter[] = {counter_0, counter_1};
inline void to_die(const Channel& from, Die& to, int i) {
    to.pins__cle(from.nand__cle(i), i);
    to.pins__ale(from.nand__ale(i), i);
    to.pins__we(from.nand__we(i), i);
    to.pins__dqs_o(from.nand__dqs_o(i), i);
    to.pins__re(from.nand__re(i), i);
    to.pins__dq_o(from.nand__dq_o(i), i);
}
template <typename Action>
void pins_of_front_end(const FrontEnd& front_end, Action& action) {
    if (front_end.data__awvalid()) action(front_end.data__awid()); else action(CData{0});
    if (front_end.data__awvalid()) action(front_end.data__awaddr()); else action(CData{0});
    if (front_end.data__awvalid()) action(front_end.data__awlen()); else action(CData{0});
    if (front_end.data__awvalid()) action(front_end.data__awsize()); else action(CData{0});
    if (front_end.data__awvalid()) action(front_end.data__awburst()); else action(CData{0});
    action(front_end.data__awvalid());
    if (front_end.data__arvalid()) action(front_end.data__arid()); else action(CData{0});
    if (front_end.data__arvalid()) action(front_end.data__araddr()); else action(CData{0});
    if (front_end.data__arvalid()) action(front_end.data__arlen()); else action(CData{0});
    if (front_end.data__arvalid()) action(front_end.data__arsize()); else action(CData{0});
    if (front_end.data__arvalid()) action(front_end.data__arburst()); else action(CData{0});
    action(front_end.data__arvalid());
    if (front_end.data__wvalid()) action(front_end.data__wdata()); else action(CData{0});
    if (front_end.data__wvalid()) action(front_end.data__wstrb()); else action(CData{0});
    if (front_end.data__wvalid()) action(front_end.data__wlast()); else action(CData{0});
    action(front_end.data__wvalid());
    action(front_end.data__bready());
    action(front_end.data__rready());
    if (front_end.queue__awvalid()) action(front_end.queue__awid()); else action(CData{0});
    if (front_end.queue__awvalid()) action(front_end.queue__awaddr()); else action(CData{0});
    if (front_end.queue__awvalid()) action(front_end.queue__awlen()); else action(CData{0});
    if (front_end.queue__awvalid()) action(front_end.queue__awsize()); else action(CData{0});
    if (front_end.queue__awvalid()) action(front_end.queue__awburst()); else action(CData{0});
    action(front_end.queue__awvalid());
    if (front_end.queue__arvalid()) action(front_end.queue__arid()); else action(CData{0});
    if (front_end.queue__arvalid()) action(front_end.queue__araddr()); else action(CData{0});
    if (front_end.queue__arvalid()) action(front_end.queue__arlen()); else action(CData{0});
    if (front_end.queue__arvalid()) action(front_end.queue__arsize()); else action(CData{0});
    if (front_end.queue__arvalid()) action(front_end.queue__arburst()); else action(CData{0});
    action(front_end.queue__arvalid());
    if (front_end.queue__wvalid()) action(front_end.queue__wdata()); else action(CData{0});
    if (front_end.queue__wvalid()) action(front_end.queue__wstrb()); else action(CData{0});
    if (front_end.queue__wvalid()) action(front_end.queue__wlast()); else action(CData{0});
    action(front_end.queue__wvalid());
    action(front_end.queue__bready());
    action(front_end.queue__rready());
    action(front_end.registers__awready());
    action(front_end.registers__wready());
    if (front_end.registers__bvalid()) action(front_end.registers__bresp()); else action(CData{0});
    action(front_end.registers__bvalid());
    action(front_end.registers__arready());
    if (front_end.registers__rvalid()) action(front_end.registers__rdata()); else action(CData{0});
    if (front_end.registers__rvalid()) action(front_end.registers__rresp()); else action(CData{0});
    action(front_end.registers__rvalid());
    action(front_end.irq());
}
template <typename Action, typename Dies>
void pins_of_channel(const Channel& engine, const Dies& dies, int i, Action& action) {
    action(engine.nand__ce_n(i));
    action(engine.nand__cle(i));
    action(engine.nand__ale(i));
    action(engine.nand__we(i));
    action(engine.nand__dqs_o(i));
    action(engine.nand__re(i));
    action(engine.nand__dq_o(i));
    uint32_t dqs_i = 0;
    for (int d = 0; d < kDies; ++d) dqs_i |= static_cast<uint32_t>(dies[d]->model.pins__dqs_i(i));
    action(dqs_i);
    uint32_t dq_i = 0;
    for (int d = 0; d < kDies; ++d) dq_i |= static_cast<uint32_t>(dies[d]->model.pins__dq_i(i));
    action(dq_i);
    uint32_t rb_n = 0;
    for (int d = 0; d < kDies; ++d) rb_n |= static_cast<uint32_t>(dies[d]->model.pins__rb_n(i)) << d;
    action(rb_n);
}
