export { listImpersonateTargets, offersTarget } from './impersonate-targets.ts';
export { findLayeredYtDlp, locateLayeredYtDlp, readVersion, ytDlpInFolder } from './layered-yt-dlp.ts';
export { unpackRelease, unpackYtDlp } from './unpack-yt-dlp.ts';
export { ytDlpAtPath, ytDlpOfSystem } from './yt-dlp-program.ts';
export { ytDlpFromPypi } from './yt-dlp-pypi.ts';
export { assetFor, ytDlpRelease } from './yt-dlp-release.ts';
