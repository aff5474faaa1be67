export { type Download, type DownloadOptions, type DownloadProgress, download } from './download.ts';
export { safeFileName } from './file-name.ts';
