export { muxNatively } from './native-muxer.ts';
