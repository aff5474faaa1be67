export { inspect } from './inspect.ts';
export { closeProbe } from './probe.ts';
