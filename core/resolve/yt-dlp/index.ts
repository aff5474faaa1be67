export { createResolver } from './extractor.ts';
export { isFinal } from './failures.ts';
export { readMetadata } from './metadata.ts';
export { type Candidate, readTracks } from './tracks.ts';
export { figure, type Info, infos, text, webUrl, whole, withoutAbsent } from './yt-dlp-info.ts';
