export { type Covers, createCovers } from './covers.ts';
export { openPicture, type PictureDependencies, type PicturePlan, planPicture } from './open.ts';
