// The suites that Sojourn's own algorithms pass.

sojourn::property_suite_queue!(
    own_algorithms::register,
    [
        "slope",
        "slope target=1ms full=10ms limit=15p",
        "slope limit=9000B",
        "slope ecn=true most=0.5 limit=600p",
        "drr each=(slope)",
    ]
);

sojourn::property_suite_control!(own_algorithms::register, ["gentle", "gentle keep=50"]);
