export { muxInProcess } from './native-muxer.ts';
