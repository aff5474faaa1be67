export { type Covers, createCovers, type Picture, readPicture, recognizePicture } from './covers.ts';
export { openPicture, type PictureDependencies } from './open.ts';
export { type PicturePlan, planPicture } from './plan.ts';
