export { createMp3Converter } from './mp3-converter.ts';
