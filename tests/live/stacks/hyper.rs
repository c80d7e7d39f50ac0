// Asks with hyper: the body goes to stdout as it comes, the exit status is 1 where it broke off.
use hyper::{body::HttpBody, Body, Client, Request};
use std::io::Write;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url = std::env::args().nth(1).expect("a URL");
    let request = Request::post(url).body(Body::from("{}")).expect("a request");
    let mut answer = Client::new().request(request).await.expect("an answer");
    let mut out = std::io::stdout();
    while let Some(data) = answer.body_mut().data().await {
        match data {
            Ok(data) => out.write_all(&data).expect("stdout"),
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(1);
            }
        }
    }
}
