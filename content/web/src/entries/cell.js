// The live cell alone: for lesson pages and for pages that embed it.
import '../cell/element.js';
