// Pyodide refuses classic workers, which it knows by their importScripts. In an opaque origin Chromium starts no module
// worker from a blob URL, so this one is classic, and dynamic import works in it all the same. Import this file first.
Object.defineProperty(self, 'importScripts', { value: undefined, configurable: true, writable: true });

export {};
