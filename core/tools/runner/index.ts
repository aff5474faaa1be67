export { smokeTestYtDlp } from './smoke-test.ts';
export { startYtDlp } from './start-yt-dlp.ts';
