"""Files of MQSim as its own are: a device, and a workload of two flows."""


def _leaves(text: str) -> str:
    return "".join(
        f"<{name}>{value}</{name}>\n" for name, value in (each.split("=") for each in text.split())
    )


_DRIVE = """
    Seed=321 Data_Cache_Capacity=16777216 Overprovisioning_Ratio=0.2 GC_Exec_Threshold=0.05
    GC_Hard_Threshold=0.005 Flash_Channel_Count=4 Flash_Channel_Width=1 Channel_Transfer_Rate=800
    Chip_No_Per_Channel=2
"""
_FLASH = """
    Flash_Technology=MLC CMD_Suspension_Support=ERASE Page_Read_Latency_LSB=50000 Page_Read_Latency_MSB=70000
    Page_Program_Latency_LSB=300000 Page_Program_Latency_MSB=900000 Block_Erase_Latency=3800000
    Die_No_Per_Chip=2 Plane_No_Per_Die=2 Block_No_Per_Plane=100 Page_No_Per_Block=64 Page_Capacity=4096
    Page_Metadat_Capacity=224
"""
_FLOW = """
    Working_Set_Percentage=10 Read_Percentage=70 Address_Distribution=RANDOM_HOTCOLD
    Percentage_of_Hot_Region=20 Seed=798
    Request_Size_Distribution=FIXED Average_Request_Size=8 Variance_Request_Size=0
    Average_No_of_Reqs_in_Queue=4 Stop_Time=0 Total_Requests_To_Generate=50
"""
_HEAD = '<?xml version="1.0" encoding="us-ascii"?>\n'
_SYNTHETIC = f"<IO_Flow_Parameter_Set_Synthetic>\n{_leaves(_FLOW)}</IO_Flow_Parameter_Set_Synthetic>\n"

DEVICE = (
    f"{_HEAD}<Execution_Parameter_Set>\n<Device_Parameter_Set>\n{_leaves(_DRIVE)}"
    f"<Flash_Parameter_Set>\n{_leaves(_FLASH)}</Flash_Parameter_Set>\n</Device_Parameter_Set>\n"
    "</Execution_Parameter_Set>\n"
)
WORKLOAD = (
    f"{_HEAD}<MQSim_IO_Scenarios>\n<IO_Scenario>\n{_SYNTHETIC}{_SYNTHETIC}</IO_Scenario>\n"
    "</MQSim_IO_Scenarios>\n"
)
