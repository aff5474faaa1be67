export { contentType } from './content-type.ts';
export {
  audioFamily,
  type FileType,
  fileType,
  isMediaContainer,
  isMp4Container,
  isQuickTime,
  mp4HoldsAudio,
  mp4HoldsVideo,
  videoFamily,
  videoRank,
} from './formats.ts';
