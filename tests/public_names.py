"""Every public function and class, by the name that people type behind `db.`"""

import inspect

import debandit as db

_PUBLIC = {name: getattr(db, name) for name in db.__all__ if not name.startswith("_")}
_MODULES = {name: each for name, each in _PUBLIC.items() if inspect.ismodule(each)}
_INSIDE = {
    f"{home}.{name}": getattr(each, name) for home, each in _MODULES.items() for name in getattr(each, "__all__", ())
}
EXPLAINED = {name: each for name, each in (_PUBLIC | _INSIDE).items() if callable(each)}
FUNCTIONS = {name: each for name, each in EXPLAINED.items() if inspect.isfunction(each)}
