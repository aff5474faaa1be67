export { inspectTracks } from './inspect-tracks.ts';
export { collect } from './read-file.ts';
