// Play contact sheets: frames of a whole template in one picture, five in a row, in a loop.
const COLUMNS = 5, FRAME_WIDTH = 320;

// Play a sheet on a canvas. Return a function that stops it. `onTurn` receives the time of each frame in seconds.
export function play(sheet, canvas, { width, height, duration }, onTurn = (_moment) => {}) {
  const columns = Math.min(COLUMNS, Math.round(sheet.width / FRAME_WIDTH) || COLUMNS), wide = sheet.width / columns;
  const high = Math.round((wide * height) / width), count = columns * Math.max(1, Math.round(sheet.height / high));
  canvas.width = wide;
  canvas.height = high;
  const began = performance.now(), pen = canvas.getContext("2d");
  let running = 0;
  const turn = (time) => {
    const at = (Math.max(0, time - began) / 1000) % duration, index = Math.min(count - 1, Math.floor((at / duration) * count));
    pen.drawImage(sheet, (index % columns) * wide, Math.floor(index / columns) * high, wide, high, 0, 0, wide, high);
    onTurn(at);
    running = requestAnimationFrame(turn);
  };
  running = requestAnimationFrame(turn);
  return () => cancelAnimationFrame(running);
}
