// The simulation behind a C interface (`flashtrain.model.kernel`).

#include <algorithm>
#include <cstring>
#include <memory>

#include "front_end.h"

namespace flashtrain {

class Simulation {
  public:
    explicit Simulation(const Parameters& parameters) {
        env_.parameters = parameters;
        for (int channel = 0; channel < parameters.channels; ++channel) {
            channels_.emplace_back(parameters, static_cast<uint16_t>(channel));
        }
        front_end_ = std::make_unique<FrontEnd>(env_, channels_);
        env_.front_end = front_end_.get();
    }

    FrontEnd& front_end() { return *front_end_; }
    const Channel& channel(int number) const { return channels_[static_cast<size_t>(number)]; }
    Environment& environment() { return env_; }

    // Until `limit`, or until a completion for one of `ports`; true if one came.
    bool run(Time limit, uint32_t ports) {
        Event event;
        size_t seen = front_end_->completed.size();
        while (env_.events.next(limit, event)) {
            if (event.wake < Wake::FETCH) {
                channels_[event.channel].wake(env_, event);
                continue;
            }
            front_end_->wake(event);
            for (; seen < front_end_->completed.size(); ++seen) {
                if (ports >> front_end_->completed[seen].port & 1) return true;
            }
        }
        return false;
    }

    // Keep `depth` of the commands in flight until all are answered, none of them coded; the time of the last answer,
    // or kNever if some are never answered.
    Time play(const Command* commands, size_t count, size_t depth) {
        auto& completed = front_end_->completed;
        size_t sent = 0, answered = 0;
        Time end = env_.events.now();
        while (answered < count) {
            for (; sent < count && sent < answered + depth; ++sent) {
                front_end_->submit(commands[sent].port, commands + sent, 1, nullptr, env_.events.now());
            }
            if (!run(kNever, ~0u)) return kNever;
            for (const Completed& each : completed) {
                front_end_->consume(each.port, 1, each.time);
                end = each.time;
            }
            answered += completed.size();
            completed.clear();
        }
        return end;
    }

    bool idle() const {
        for (const Channel& channel : channels_) {
            if (!channel.idle()) return false;
        }
        return front_end_->idle();
    }

    void finish_records() {
        for (Channel& channel : channels_) channel.finish_records(env_);
    }

  private:
    Environment env_;
    std::vector<Channel> channels_;
    std::unique_ptr<FrontEnd> front_end_;
};

}  // namespace flashtrain

using flashtrain::Simulation;

extern "C" {

const char* flashtrain_model_parameters() {
#define X(name) #name " "
    return FLASHTRAIN_PARAMETERS(X);
#undef X
}

Simulation* flashtrain_model_create(const int32_t* values, const int32_t* op_cycles, const int32_t* predicted) {
    flashtrain::Parameters parameters;
    size_t number = 0;
#define X(name) parameters.name = values[number++];
    FLASHTRAIN_PARAMETERS(X)
#undef X
    std::memcpy(parameters.op_cycles, op_cycles, sizeof parameters.op_cycles);
    std::memcpy(parameters.predicted, predicted, sizeof parameters.predicted);
    return new Simulation(parameters);
}

void flashtrain_model_destroy(Simulation* simulation) { delete simulation; }

uint64_t flashtrain_model_now(Simulation* simulation) { return simulation->environment().events.now(); }

uint64_t flashtrain_model_enable(Simulation* simulation, int erased, int recovers) {
    simulation->front_end().enable(erased, recovers, simulation->environment().events.now());
    return simulation->front_end().ready_at();
}

void flashtrain_model_queue_size(Simulation* simulation, int port, uint32_t entries) {
    simulation->front_end().set_queue_size(port, entries);
}

void flashtrain_model_submit(Simulation* simulation, int port, const flashtrain::Command* commands, uint64_t count,
                             const flashtrain::CodedPage* pages) {
    simulation->front_end().submit(port, commands, count, pages, simulation->environment().events.now());
}

void flashtrain_model_consume(Simulation* simulation, int port, uint64_t completions) {
    simulation->front_end().consume(port, completions, simulation->environment().events.now());
}

int flashtrain_model_run(Simulation* simulation, uint64_t limit, uint32_t ports) {
    return simulation->run(limit, ports);
}

uint64_t flashtrain_model_play(Simulation* simulation, const flashtrain::Command* commands, uint64_t count,
                               uint64_t depth) {
    return simulation->play(commands, count, depth);
}

int flashtrain_model_idle(Simulation* simulation) { return simulation->idle(); }

uint64_t flashtrain_model_standings(Simulation* simulation, flashtrain::Standing* found, uint64_t room) {
    const auto items = simulation->front_end().standings();
    std::copy_n(items.begin(), std::min<size_t>(items.size(), room), found);
    return items.size();
}

uint64_t flashtrain_model_completed(Simulation* simulation) { return simulation->front_end().completed.size(); }

void flashtrain_model_take_completed(Simulation* simulation, flashtrain::Completed* completed) {
    auto& items = simulation->front_end().completed;
    std::memcpy(completed, items.data(), items.size() * sizeof *completed);
    items.clear();
}

uint64_t flashtrain_model_count(Simulation* simulation, int counter) { return simulation->front_end().counts[counter]; }

uint64_t flashtrain_model_channel_count(Simulation* simulation, int channel, int counter) {
    return simulation->channel(channel).counts[counter];
}

uint64_t flashtrain_model_events(Simulation* simulation) { return simulation->environment().events.taken(); }

void flashtrain_model_set_tracing(Simulation* simulation, int on) {
    simulation->finish_records();  // those that ended before belong to the time before
    simulation->environment().trace.on = on;
}

uint64_t flashtrain_model_trace_records(Simulation* simulation) {
    simulation->finish_records();
    return simulation->environment().trace.records.size();
}

void flashtrain_model_take_trace(Simulation* simulation, flashtrain::TraceRecord* records) {
    auto& items = simulation->environment().trace.records;
    std::memcpy(records, items.data(), items.size() * sizeof *records);
    items.clear();
}

}  // extern "C"
