export { ATTACKS } from './attacks.ts';
export { busySeconds, divideCores, moveTo, runQueueSeconds } from './cores.ts';
export { rawGet, streamPath } from './raw-request.ts';
