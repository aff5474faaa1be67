export { createMux, type Mux } from './ffmpeg-muxer.ts';
