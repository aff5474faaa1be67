export { describeExhibit, EXHIBITS } from './demo-samples.ts';
