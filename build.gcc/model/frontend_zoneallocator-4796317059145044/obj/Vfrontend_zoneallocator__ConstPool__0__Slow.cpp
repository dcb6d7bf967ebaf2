// Verilated -*- C++ -*-
// DESCRIPTION: Verilator output: Constant pool

#include "verilated.h"

extern const VlUnpacked<CData/*0:0*/, 256> Vfrontend_zoneallocator__ConstPool__TABLE_h023cd22a_0 = {{
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 1U, 1U, 1U, 1U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 1U, 0U, 1U, 1U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 1U, 1U, 1U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 1U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 1U, 1U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 1U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 1U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U
}};

extern const VlUnpacked<CData/*0:0*/, 64> Vfrontend_zoneallocator__ConstPool__TABLE_h07f23dd1_0 = {{
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 1U, 0U, 0U, 0U, 0U, 0U,
    0U, 1U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 1U, 1U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 1U, 0U, 0U, 0U,
    0U, 0U, 1U, 0U, 1U, 0U, 0U, 0U,
    0U, 1U, 0U, 0U, 1U, 0U, 0U, 0U,
    0U, 1U, 1U, 0U, 1U, 0U, 0U, 0U
}};

extern const VlUnpacked<CData/*0:0*/, 128> Vfrontend_zoneallocator__ConstPool__TABLE_h105ac722_0 = {{
    1U, 0U, 0U, 1U, 0U, 0U, 0U, 0U,
    1U, 1U, 1U, 1U, 1U, 0U, 0U, 0U,
    1U, 1U, 1U, 1U, 1U, 0U, 0U, 0U,
    1U, 1U, 1U, 1U, 1U, 0U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 1U, 0U, 0U,
    1U, 1U, 1U, 1U, 1U, 1U, 0U, 0U,
    1U, 1U, 1U, 1U, 1U, 1U, 0U, 0U,
    1U, 1U, 1U, 1U, 1U, 1U, 0U, 0U,
    1U, 0U, 0U, 1U, 0U, 0U, 1U, 0U,
    1U, 1U, 1U, 1U, 1U, 0U, 1U, 0U,
    1U, 1U, 1U, 1U, 1U, 0U, 1U, 0U,
    1U, 1U, 1U, 1U, 1U, 0U, 1U, 0U,
    1U, 0U, 0U, 1U, 0U, 1U, 1U, 0U,
    1U, 1U, 1U, 1U, 1U, 1U, 1U, 0U,
    1U, 1U, 1U, 1U, 1U, 1U, 1U, 0U,
    1U, 1U, 1U, 1U, 1U, 1U, 1U, 0U
}};

extern const VlUnpacked<CData/*0:0*/, 256> Vfrontend_zoneallocator__ConstPool__TABLE_he8eae928_0 = {{
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 1U, 1U, 0U, 1U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 1U, 0U, 0U, 1U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 1U, 0U, 1U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 1U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 1U, 1U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 1U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 1U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U,
    0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U
}};

extern const VlUnpacked<CData/*0:0*/, 8> Vfrontend_zoneallocator__ConstPool__TABLE_hfeef67c1_0 = {{
    0U, 1U, 1U, 0U, 1U, 0U, 0U, 0U
}};
