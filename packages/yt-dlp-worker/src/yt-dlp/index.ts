export { findLayeredYtDlp, locateLayeredYtDlp, readVersion } from './layered-yt-dlp.ts';
export { pythonForYtDlp, ytDlpAtPath, ytDlpFromPypi, ytDlpInFolder, ytDlpOfSystem, ytDlpRelease } from './providers.ts';
export { listImpersonateTargets, offersTarget, readYtDlpVersion } from './query-yt-dlp.ts';
export { assetFor, unpackRelease, unpackYtDlp } from './release-archive.ts';
export { createReleases, type FetchedRelease, type Releases } from './releases.ts';
