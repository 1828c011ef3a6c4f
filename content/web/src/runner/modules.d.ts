// Modules without types of their own.
declare module '*.py' {
  const text: string;
  export default text;
}
declare module 'pyodide/pyodide.mjs' {
  export function loadPyodide(options: object): Promise<any>;
}
