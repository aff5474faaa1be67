export { languageName } from './language-name.ts';
export { loadPictures, type Picture, pictureStyle, pointedSeconds } from './storyboard.ts';
