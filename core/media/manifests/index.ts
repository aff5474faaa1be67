export { isRounded, readDashManifest, readHlsPlaylist } from './manifest-facts.ts';
