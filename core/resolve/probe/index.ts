export { inspectTracks } from './inspect-tracks.ts';
