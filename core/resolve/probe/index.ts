export { inspectTracks } from './inspect-tracks.ts';
export { readBody } from './request-track.ts';
