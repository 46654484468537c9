from toolcharter import App

app = App("hello")


@app.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


app.run()
