export { DownloadList } from './downloads.tsx';
