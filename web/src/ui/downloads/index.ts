export { DownloadTray } from './download-tray.tsx';
