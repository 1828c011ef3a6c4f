// The runner alone, for pages that bring their own interface, and for the tests.
export { Runner, runnerFor } from '../runner/client.js';
