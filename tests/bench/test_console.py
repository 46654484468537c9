from bench import console
from bench.console import OFF, OPEN, UNSEEN, Taken


def test_the_page_says_how_many_calls_fewer_a_second_there_can_be():
    figures = {
        setup: [Taken(cpu, 2000.0, memory, 100)] * 3
        for setup, cpu, memory in ((OFF, 97.0, 80.0), (UNSEEN, 99.0, 85.0), (OPEN, 100.0, 90.0))
    }
    lines = console.page(figures, "make bench", "A machine.").splitlines()
    assert "| with it, nobody looks | 99.0 µs ± 0% | +2.1% | 2,000 | 85 MB |" in lines
    assert "- Fewer calls a second with the page open than without the console: 3.0% (target: 3%)." in lines
    assert "- More memory: 10 MB (target: 20 MB)." in lines
