import pytest

from tests.toolcharter.verify.rules.run_rule import run_rule, tool_with

P = "inputSchema.properties"
TREE = {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}


def typed(kind, **more):
    return tool_with(a={"type": kind, **more})


@pytest.mark.parametrize(
    ("rule", "definition", "expected"),
    [
        ("SCH001", {"inputSchema": None}, [("inputSchema", "has no inputSchema, or an empty one")]),
        (
            "SCH002",
            {"inputSchema": {"type": ["object"]}},
            [("inputSchema.type", 'the type of inputSchema is ["object"], not "object"')],
        ),
        (
            "SCH003",
            typed("string", minLength=-1),
            [(f"{P}.a.minLength", "`minLength` is -1, not a non-negative integer")],
        ),
        ("SCH003", typed("integer", minimum="1"), [(f"{P}.a.minimum", '`minimum` is "1", not a number')]),
        (
            "SCH003",
            typed("integer", exclusiveMinimum=True),
            [(f"{P}.a.exclusiveMinimum", "`exclusiveMinimum` is true, not a number")],
        ),
        ("SCH003", tool_with(a="string"), [(f"{P}.a", "'a' is \"string\", not a schema")]),
        ("SCH003", tool_with(a={"anyOf": []}), [(f"{P}.a.anyOf", "`anyOf` is [], not a list of schemas")]),
        ("SCH003", tool_with(a={"type": []}), [(f"{P}.a.type", "`type` is [], not a string or a list of strings")]),
        (
            "SCH003",
            {"inputSchema": {"type": "object", "required": ["a", 1]}},
            [("inputSchema.required", '`required` is ["a", 1], not a list of names')],
        ),
        (
            "SCH003",
            {"outputSchema": {"type": "object", "properties": []}},
            [("outputSchema.properties", "`properties` is [], not an object of schemas")],
        ),
        ("SCH004", typed("any"), [(f"{P}.a.type", '"any" is not a JSON type')]),
        ("SCH004", typed(["string", "None"]), [(f"{P}.a.type", '"None" is not a JSON type')]),
        (
            "SCH005",
            typed("string", pattern="(?P<y>a)"),
            [
                (
                    f"{P}.a.pattern",
                    'the pattern "(?P<y>a)" is written for Python, but JSON Schema uses JavaScript patterns',
                )
            ],
        ),
        (
            "SCH006",
            typed("string", minLength=2, maxLength=1),
            [(f"{P}.a", "`minLength` is 2 and `maxLength` is 1, so no value is valid")],
        ),
        (
            "SCH006",
            typed("number", exclusiveMinimum=1, maximum=1),
            [(f"{P}.a", "`exclusiveMinimum` is 1 and `maximum` is 1, so no value is valid")],
        ),
        (
            "SCH007",
            {"inputSchema": {"type": "object", "required": ["a"]}},
            [("inputSchema.required", "'a' is required, but is not a property")],
        ),
        (
            "SCH009",
            tool_with(a={"$ref": "other.json#/A"}),
            [(f"{P}.a.$ref", 'refers to "other.json#/A", outside the schema')],
        ),
        ("SCH010", tool_with(a={"$ref": "#there"}), [(f"{P}.a.$ref", '"#there" has no target')]),
        ("SCH011", tool_with(a={"$ref": "#"}), [("inputSchema", '"#" contains itself')]),
        (
            "SCH012",
            tool_with(a={"type": "array", "items": {"enum": []}}),
            [(f"{P}.a.items.enum", "the enum is empty, so no value is valid")],
        ),
        ("SCH013", typed("integer", const="1"), [(f"{P}.a.const", '"1" is not of type integer')]),
        ("SCH013", typed("boolean", enum=[True, 1]), [(f"{P}.a.enum", "1 is not of type boolean")]),
        (
            "SCH014",
            typed("string", default=None),
            [(f"{P}.a.default", "the default null does not match its own schema: it is not of type string")],
        ),
        (
            "SCH014",
            tool_with(a={"enum": ["x"], "default": "y"}),
            [(f"{P}.a.default", 'the default "y" does not match its own schema: it is not in the enum')],
        ),
        (
            "SCH014",
            typed("integer", maximum=5, default=6),
            [(f"{P}.a.default", "the default 6 does not match its own schema: it is above the maximum")],
        ),
        (
            "SCH014",
            typed("array", minItems=1, default=[]),
            [(f"{P}.a.default", "the default [] does not match its own schema: it is shorter than minItems")],
        ),
        ("SCH015", typed(["array", "null"]), [(f"{P}.a", "is an array without `items`")]),
        ("SCH016", tool_with(a=True), [(f"{P}.a", "'a' has no type, so any value is valid")]),
        ("SCH016", typed("array", items={}), [(f"{P}.a.items", "the items have no type, so any value is valid")]),
        (
            "SCH018",
            {"outputSchema": {"properties": {}}},
            [("outputSchema.type", 'the type of outputSchema is missing, not "object"')],
        ),
        (
            "SCH019",
            tool_with(a={"enum": [{"b": 1, "c": 2}, {"c": 2, "b": 1}]}),
            [(f"{P}.a.enum", '{"c": 2, "b": 1} is in the enum twice')],
        ),
        (
            "SCH020",
            typed("string", optional=True),
            [(f"{P}.a.optional", "`optional` is not a keyword: leave the name out of `required`")],
        ),
        ("SCH021", typed("string", minimum=1), [(f"{P}.a.minimum", "`minimum` has no effect on type string")]),
    ],
)
def test_an_invalid_schema_is_found(rule, definition, expected):
    assert run_rule(rule, definition) == expected


@pytest.mark.parametrize(
    ("rule", "definition"),
    [
        (
            "SCH003",
            tool_with(
                type={"type": "string"}, properties={"type": "object", "properties": {}}, required={"type": "array"}
            ),
        ),
        ("SCH003", typed("number", maximum=1e400, minimum=0.5)),
        ("SCH005", typed("string", pattern=r"^(?<y>\p{L}+)(?<=a|bc)\k<y>[^]$")),
        ("SCH005", typed("string", pattern="(" * 5000)),
        ("SCH006", typed("integer", minimum=1, maximum=1)),
        ("SCH007", {"inputSchema": {"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}]}}),
        ("SCH010", tool_with(a={"$ref": "#/properties/b/anyOf/0"}, b={"anyOf": [{"type": "string"}]})),
        ("SCH010", tool_with(a={"$ref": "#here"}, b={"$anchor": "here"})),
        (
            "SCH011",
            {
                "inputSchema": {
                    "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/A"}},
                    "$defs": {"A": {}},
                }
            },
        ),
        ("SCH013", typed(["string", "null"], enum=["a", None])),
        ("SCH013", typed("integer", enum=[1.0])),
        ("SCH014", tool_with(a={"anyOf": [{"type": "string"}, {"type": "null"}], "default": None})),
        ("SCH014", tool_with(a={"anyOf": [{"type": "string"}, {}], "default": 5})),
        ("SCH014", tool_with(a={"$ref": "#/$defs/A", "default": 5})),
        ("SCH015", typed("array", prefixItems=[{"type": "string"}])),
        ("SCH016", tool_with(a={"enum": [1, "x"]}, b={"$ref": "#/$defs/B"}, c=False)),
        ("SCH017", {"inputSchema": {"type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema"}}),
        ("SCH019", tool_with(a={"enum": [1, True, "1", None]})),
        ("SCH020", tool_with(optional={"type": "string"}, a={"type": "string", "x-order": 1})),
        ("SCH021", typed(["string", "integer"], minimum=1, maxLength=2)),
    ],
)
def test_a_schema_that_only_looks_wrong_has_no_finding(rule, definition):
    assert run_rule(rule, definition) == []


def test_two_definitions_that_contain_each_other_are_recursive():
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {}}
    schema["$defs"] = {"A": {"properties": {"b": {"$ref": "#/$defs/B"}}}, "B": {"items": {"$ref": "#/$defs/A"}}}
    found = [
        ("inputSchema.$defs.A", '"#/$defs/A" contains itself'),
        ("inputSchema.$defs.B", '"#/$defs/B" contains itself'),
    ]
    assert run_rule("SCH011", {"inputSchema": schema}) == found
