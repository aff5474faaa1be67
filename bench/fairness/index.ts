export { ATTACKS } from './attacks.ts';
export { busySeconds, divideCores, moveTo } from './cores.ts';
export { rawGet, resolvedPath } from './raw-request.ts';
