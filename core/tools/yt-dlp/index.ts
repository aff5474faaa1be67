export { type Download, downloadFile } from './download.ts';
export { listImpersonateTargets, offersTarget } from './impersonate-targets.ts';
export { findLayeredYtDlp, locateLayeredYtDlp, readVersion } from './layered-yt-dlp.ts';
export { ytDlpAtPath, ytDlpFromPypi, ytDlpInFolder, ytDlpOfSystem, ytDlpRelease } from './providers.ts';
export { readYtDlpVersion } from './query-yt-dlp.ts';
export { assetFor, unpackRelease, unpackYtDlp } from './release-archive.ts';
export { createReleases, type FetchedRelease, type Releases, type ReleasesOptions } from './releases.ts';
