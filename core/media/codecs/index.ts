export { audioFamily, mp4HoldsAudio, mp4HoldsVideo, videoRank } from './codecs.ts';
export { type FileType, fileType, isMediaContainer } from './file-types.ts';
