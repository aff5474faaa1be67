// The file that a Lambda Web Function starts, in the root of its package.
import './main.mjs';
