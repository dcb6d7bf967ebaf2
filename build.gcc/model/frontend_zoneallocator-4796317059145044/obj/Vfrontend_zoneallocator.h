// Verilated -*- C++ -*-
// DESCRIPTION: Verilator output: Primary model header
//
// This header should be included by all source files instantiating the design.
// The class here is then constructed to instantiate the design.
// See the Verilator manual for examples.

#ifndef VERILATED_VFRONTEND_ZONEALLOCATOR_H_
#define VERILATED_VFRONTEND_ZONEALLOCATOR_H_  // guard

#include "verilated.h"

class Vfrontend_zoneallocator__Syms;
class Vfrontend_zoneallocator___024root;

// This class is the main interface to the Verilated model
class alignas(VL_CACHE_LINE_BYTES) Vfrontend_zoneallocator VL_NOT_FINAL : public VerilatedModel {
  private:
    // Symbol table holding complete model state (owned by this class)
    Vfrontend_zoneallocator__Syms* const vlSymsp;

  public:

    // CONSTEXPR CAPABILITIES
    // Verilated with --trace?
    static constexpr bool traceCapable = false;

    // PORTS
    // The application code writes and reads these signals to
    // propagate new values into/out from the Verilated model.
    VL_IN8(&clk,0,0);
    VL_IN8(&rst,0,0);
    VL_IN8(&erase___05Fready,0,0);
    VL_IN8(&erased___05Fpayload,0,0);
    VL_IN8(&erased___05Fvalid,0,0);
    VL_IN8(&factory,0,0);
    VL_IN8(&next___05Fready,0,0);
    VL_IN8(&recovering,0,0);
    VL_IN8(&release___05Fpayload,3,0);
    VL_IN8(&release___05Fvalid,0,0);
    VL_IN8(&port17___05Freset,0,0);
    VL_IN8(&restored___05Fvalid,0,0);
    VL_IN8(&zone_select,3,0);
    VL_OUT8(&erases,0,0);
    VL_OUT8(&idle,0,0);
    VL_OUT8(&ready,0,0);
    VL_OUT8(&exhausted,0,0);
    VL_OUT8(&next___05Fvalid,0,0);
    VL_OUT8(&restored___05Fready,0,0);
    VL_OUT8(&release___05Fready,0,0);
    VL_OUT8(&erased___05Fready,0,0);
    VL_OUT8(&erase___05Fpayload,4,0);
    VL_OUT8(&erase___05Fvalid,0,0);
    VL_IN(&restored___05Fpayload,26,0);
    VL_OUT(&port3___05Fselected_wear___05Fdata,20,0);
    VL_OUT(&next___05Fpayload,24,0);

    // CELLS
    // Public to allow access to /* verilator public */ items.
    // Otherwise the application code can consider these internals.

    // Root instance pointer to allow access to model internals,
    // including inlined /* verilator public_flat_* */ items.
    Vfrontend_zoneallocator___024root* const rootp;

    // CONSTRUCTORS
    /// Construct the model; called by application code
    /// If contextp is null, then the model will use the default global context
    /// If name is "", then makes a wrapper with a
    /// single model invisible with respect to DPI scope names.
    explicit Vfrontend_zoneallocator(VerilatedContext* contextp, const char* name = "TOP");
    explicit Vfrontend_zoneallocator(const char* name = "TOP");
    /// Destroy the model; called (often implicitly) by application code
    virtual ~Vfrontend_zoneallocator();
  private:
    VL_UNCOPYABLE(Vfrontend_zoneallocator);  ///< Copying not allowed

  public:
    // API METHODS
    /// Evaluate the model.  Application must call when inputs change.
    void eval() { eval_step(); }
    /// Evaluate when calling multiple units/models per time step.
    void eval_step();
    /// Evaluate at end of a timestep for tracing, when using eval_step().
    /// Application must call after all eval() and before time changes.
    void eval_end_step() {}
    /// Simulation complete, run final blocks.  Application must call on completion.
    void final();
    /// Are there scheduled events to handle?
    bool eventsPending();
    /// Returns time at next time slot. Aborts if !eventsPending()
    uint64_t nextTimeSlot();
    /// Trace signals in the model; called by application code
    void trace(VerilatedTraceBaseC* tfp, int levels, int options = 0) { contextp()->trace(tfp, levels, options); }
    /// Retrieve name of this model instance (as passed to constructor).
    const char* name() const;

    // Abstract methods from VerilatedModel
    const char* hierName() const override final;
    const char* modelName() const override final;
    unsigned threads() const override final;
    /// Prepare for cloning the model at the process level (e.g. fork in Linux)
    /// Release necessary resources. Called before cloning.
    void prepareClone() const;
    /// Re-init after cloning the model at the process level (e.g. fork in Linux)
    /// Re-allocate necessary resources. Called after cloning.
    void atClone() const;
  private:
    // Internal functions - trace registration
    void traceBaseModel(VerilatedTraceBaseC* tfp, int levels, int options);
};

#endif  // guard
