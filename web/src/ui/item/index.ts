export { DownloadNote } from '../download-note.tsx';
export { Item } from './item.tsx';
