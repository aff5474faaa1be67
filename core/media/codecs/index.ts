export { audioFamily, mp4HoldsAudio, mp4HoldsVideo, videoFamily, videoRank } from './codecs.ts';
export { type FileType, fileType, isMediaContainer, isMp4Container } from './file-types.ts';
