"""One module a screen: it composes widgets, watches stores and carries the actions of that screen.

Screens may import stores and widgets; neither imports a screen. Start reading at `base.py`.
"""
