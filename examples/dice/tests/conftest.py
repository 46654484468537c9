toolcharter_servers = ["mcp_dice.app:build"]  # each example and each rule of `toolcharter verify` becomes a test
