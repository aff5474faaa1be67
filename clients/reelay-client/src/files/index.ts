export {
  type Download,
  type DownloadOptions,
  type DownloadProgress,
  download,
  pipe,
  type SuggestedFile,
} from './download.ts';
export { cutText, safeFileName } from './file-name.ts';
export { sizeOf } from './partial-file.ts';
export { requireWritable } from './require-writable.ts';
