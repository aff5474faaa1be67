export { inspect } from './inspect.ts';
