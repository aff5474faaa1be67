export {
  type Download,
  type DownloadOptions,
  type DownloadProgress,
  download,
  pipe,
  type SuggestedFile,
} from './download.ts';
export { cutText, safeFileName } from './file-name.ts';
export { requireWritable, sizeOf } from './partial-file.ts';
