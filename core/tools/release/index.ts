export { type Download, downloadFile } from './download.ts';
export { createReleases, type FetchedRelease, type Releases, type ReleasesOptions } from './releases.ts';
export { unpack } from './unpack.ts';
