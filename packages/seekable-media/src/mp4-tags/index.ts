export { MP4_TAGS_BYTES, mp4Tags } from './mp4-tags.ts';
