// Physical zones: the next one to be written, and the next one to be erased.

#include <algorithm>

#include "front_end.h"

namespace flashtrain {

void FrontEnd::enable(bool erased, bool recovers, Time now) {
    const auto zones = static_cast<uint32_t>(p_.zones), blocks = static_cast<uint32_t>(p_.blocks);
    logical_.assign(zones, {});
    const PhysicalState state = recovers ? PhysicalState::USED : erased ? PhysicalState::ERASED : PhysicalState::DIRTY;
    physical_.assign(blocks, {state, 0});
    for (uint32_t spare = zones; spare < blocks && erased; ++spare) physical_[spare].state = PhysicalState::USED;
    erased_zones_ = state == PhysicalState::ERASED ? zones : 0;
    dirty_ = state == PhysicalState::DIRTY ? blocks : 0;
    recovering_ = recovers;
    // The zone table fills with a zone per cycle, a channel's block table with a block; dies are reset.
    const Time table = static_cast<Time>(p_.blocks) * static_cast<Time>(p_.planes * p_.dies);
    ready_at_ = now + std::max(table + static_cast<Time>(p_.fill_blocks), static_cast<Time>(p_.trst + p_.reset_dies));
    scan_zones(now + blocks);
}

void FrontEnd::release(uint32_t physical, Time now) {
    mark(physical, PhysicalState::DIRTY);
    scan_zones(now + 1);
}

// A USED or DIRTY zone: a recovery may name it several times.
void FrontEnd::mark(uint32_t physical, PhysicalState state) {
    dirty_ += state == PhysicalState::DIRTY;
    dirty_ -= physical_[physical].state == PhysicalState::DIRTY;
    physical_[physical].state = state;
}

// `ZoneAllocator`: a scan over all zones chooses both, while there is something to choose, and not during a recovery.
void FrontEnd::scan_zones(Time now) {
    const bool due = (!next_valid_ && erased_zones_) || (!erasing_ && dirty_);
    if (scanning_ || recovering_ || !due) return;
    scanning_ = true;
    env_.events.schedule({now + static_cast<Time>(p_.blocks) + 2, Wake::ALLOCATOR, 0, 0, 0});
}

void FrontEnd::choose_zones(Time now) {
    scanning_ = false;
    const auto least_worn = [&](PhysicalState state) {
        uint32_t best = ~0u;
        for (uint32_t zone = 0; zone < physical_.size(); ++zone) {
            if (physical_[zone].state != state) continue;
            if (best == ~0u || physical_[zone].wear < physical_[best].wear) best = zone;
        }
        return best;
    };
    if (!next_valid_) {
        const uint32_t zone = least_worn(PhysicalState::ERASED);
        if (zone != ~0u) {
            physical_[zone].state = PhysicalState::USED;
            --erased_zones_;
            next_valid_ = true;
            next_zone_ = zone;
            want_manager(now + 1);
        }
    }
    if (!erasing_) {
        const uint32_t zone = least_worn(PhysicalState::DIRTY);
        if (zone != ~0u) {
            physical_[zone].state = PhysicalState::ERASING;
            --dirty_;
            erasing_ = true;
            erasing_zone_ = zone;
            erases_left_ = static_cast<uint32_t>(channels_.size());
            for (Channel& channel : channels_) channel.erase(env_, zone, now + static_cast<Time>(p_.erase_start));
        }
    }
    scan_zones(now + 2);
}

void FrontEnd::erased(uint16_t, Time now) {
    if (--erases_left_) return;
    erasing_ = false;
    ++counts[ZONE_ERASES];
    PhysicalZone& zone = physical_[erasing_zone_];
    const bool spare = erasing_zone_ >= logical_.size();
    zone.state = spare ? PhysicalState::USED : PhysicalState::ERASED;
    ++zone.wear;
    erased_zones_ += !spare;
    scan_zones(now + 3);
}

}  // namespace flashtrain
