export { inspectTracks } from './inspect-tracks.ts';
export { collect } from './request-track.ts';
