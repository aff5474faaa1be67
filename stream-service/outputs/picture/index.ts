export { type Covers, createCovers } from './covers.ts';
export { openPicture, type PictureDependencies } from './open.ts';
export { type PicturePlan, planPicture } from './plan.ts';
